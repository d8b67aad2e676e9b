"""Tests that run_docs.py accepts correct pages and rejects wrong ones."""
import io
import tempfile
import unittest

from run_docs import blocks, check_page, commands, first_difference, left_out


class Pages(unittest.TestCase):
    def check(self, text):
        """Returns the number of commands, or None, and the log."""
        out = io.StringIO()
        with tempfile.TemporaryDirectory() as folder:
            return check_page(text, "page.md", folder, out), out.getvalue()

    def test_commands_share_a_shell(self):
        page = "Text.\n\n    $ cd /tmp; x=7\n    $ echo $x $PWD\n    7 /tmp\n\n```\n$ echo $x\n7\n```\n"
        self.assertEqual(self.check(page)[0], 3)

    def test_blocks_without_a_command_are_not_run(self):
        self.assertEqual(self.check("Text\n\n    false\n\n```\nfalse\n```\n")[0], 0)

    def test_here_documents_and_continued_lines(self):
        page = ("\n    $ cat > a <<'END'\n    one\n      two\n\n    three\n    END\n"
                "    $ cat \\\n        a\n    one\n    two\n\n    three\n")
        self.assertEqual([command[0] for command in commands(page)], [2, 8])
        self.assertEqual(self.check(page)[0], 2)

    def test_wrong_output_fails(self):
        count, log = self.check("\n    $ echo 8\n    7\n")
        self.assertIsNone(count)
        self.assertIn("page.md:2: the output differs from the page at: 7", log)

    def test_missing_and_additional_lines_fail(self):
        self.assertIsNone(self.check("\n    $ echo a\n    a\n    b\n")[0])
        self.assertIsNone(self.check("\n    $ echo a; echo b\n    a\n")[0])

    def test_a_failing_command_fails(self):
        self.assertIsNone(self.check("\n    $ false\n")[0])
        self.assertIsNone(self.check("\n    $ exit 3\n")[0])

    def test_an_expected_error_must_occur(self):
        self.assertEqual(self.check("\n    $ echo 'error: a'; false\n    error: a\n")[0], 1)
        self.assertIsNone(self.check("\n    $ echo 'error: a'\n    error: a\n")[0])

    def test_commands_get_no_input(self):
        self.assertEqual(self.check("\n    $ cat\n    $ echo a\n    a\n")[0], 2)


class Comments(unittest.TestCase):
    def log(self, text):
        """Returns the number of commands, or None, and the log."""
        out = io.StringIO()
        with tempfile.TemporaryDirectory() as folder:
            return check_page(text, "page.md", folder, out), out.getvalue()

    def test_hidden_commands_run_in_the_same_shell(self):
        page = ("<!-- run\nx=7\ncat > a <<'END'\n    indented\nEND\n-->\n\n"
                "    $ echo $x; cat a\n    7\n        indented\n")
        self.assertEqual(self.log(page)[0], 2)

    def test_hidden_commands_must_succeed(self):
        self.assertIsNone(self.log("<!-- run\nfalse\ntrue\n-->\n")[0])

    def test_files(self):
        page = ("<!-- file: a.c -->\n\n    int main(void) { return 0; }\n\nText\n\n"
                "    $ cat a.c\n    int main(void) { return 0; }\n")
        self.assertEqual(self.log(page)[0], 2)

    def test_excluded_blocks_are_not_run(self):
        self.assertEqual(self.log("<!-- not run: minutes -->\n\n    $ false\n")[0], 0)
        self.assertEqual(self.log("- item\n\n  <!-- not run: minutes -->\n\n      $ false\n")[0], 0)

    def test_blocks_in_lists(self):
        self.assertIsNone(self.log("- item\n\n      $ false\n")[0])

    def test_a_comment_needs_a_block(self):
        with self.assertRaises(ValueError):
            list(blocks("<!-- not run: minutes -->\n\nText\n\n    $ false\n"))
        with self.assertRaises(ValueError):
            list(blocks("<!-- not run: minutes -->\n"))

    def test_forgotten_commands_are_errors(self):
        for line in ("brewc net.prototxt", "X=1 brew-run train net.plan", "cd build && cmake .",
                     "scripts/build   # with TESTS [and more]", "build/release/bin/caffe train"):
            command = line.split("#")[0].rstrip()
            self.assertEqual(list(left_out(f"\n    {line}\n")), [(2, command)], line)
            self.assertIsNone(self.log(f"\n    {line}\n")[0])
        self.assertEqual(list(left_out("\n    // text\n    int main() {}\n")), [(2, "// text")])

    def test_synopses_and_output_are_no_commands(self):
        for line in ("brewc NET -o net.plan", "brew-run infer PLAN FILE...", "caffe train [-gpu 0]",
                     "brew-run: error: no", "layer { }", "categories"):
            self.assertEqual(list(left_out(f"\n    {line}\n")), [], line)

    def test_empty_lines_between_commands(self):
        self.assertEqual(self.log("\n    $ echo a\n    a\n\n    $ echo b\n    b\n")[0], 2)


class Lines(unittest.TestCase):
    def same(self, expected, printed):
        return first_difference(expected.split("\n"), printed.split("\n")) is None

    def test_ellipses(self):
        self.assertTrue(self.same("a\n...\nd", "a\nb\nc\nd"))
        self.assertTrue(self.same("...\nd\n...", "d"))
        self.assertTrue(self.same("...\nb\nc", "b\nb\nc"))
        self.assertTrue(self.same("wrote ... bytes", "wrote 12 of 14 bytes"))
        self.assertFalse(self.same("a\n...\nd", "a\nd\nc"))

    def test_numbers(self):
        self.assertTrue(self.same("loss = 0.25, 1.5e-3 s", "loss = 12.125, 1e-05 s"))
        self.assertFalse(self.same("loss = 0.25", "loss = nan"))
        self.assertFalse(self.same("10 images", "11 images"))
        self.assertTrue(self.same("0.5", "5"))
        self.assertFalse(self.same("5", "0.5"))

    def test_log_lines(self):
        line = "I1121 10:31:19.923533  5353 solver.cpp:351] Iteration 10"
        self.assertTrue(self.same(line, "I0203 00:00:01.000000 7 caffe.cpp:1] Iteration 10"))
        self.assertFalse(self.same(line, "W0203 00:00:01.000000 7 caffe.cpp:1] Iteration 10"))
        self.assertFalse(self.same(line, "I0203 00:00:01.000000 7 caffe.cpp:1] Iteration 20"))

    def test_spaces(self):
        self.assertTrue(self.same("  a   b", "a b  "))
        self.assertFalse(self.same("ab", "a b"))


if __name__ == "__main__":
    unittest.main()
