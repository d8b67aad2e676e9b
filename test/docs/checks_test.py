"""Tests that the checks of documentation pages find what is wrong."""
import os
import tempfile
import unittest

import check_environment
import check_layers
import check_links
import check_readme
import option_tables


class Links(unittest.TestCase):
    def broken(self, text):
        """Returns the broken links of the page docs/a.md, beside a page docs/b.md."""
        with tempfile.TemporaryDirectory() as root:
            os.mkdir(os.path.join(root, "docs"))
            for name, content in (("a", text), ("b", "# First `x`: part\n\n## Twice\n\n## Twice\n")):
                with open(os.path.join(root, "docs", name + ".md"), "w") as file:
                    file.write(content)
            return list(check_links.broken_links(root, "docs/a.md", text,
                                                 {"docs/a.md", "docs/b.md", "test/x/y.py"}))

    def test_good_links(self):
        self.assertEqual(self.broken("[b](b.md), [b](../docs/b.md#first-x-part), [x](../test/x)\n"
                                     "[two\nlines](b.md#twice-1), [self](#here)\n\n# Here\n"), [])

    def test_missing_files_and_headings(self):
        self.assertEqual(self.broken("text\n[c](c.md)\n[b](b.md#second)\n"),
                         [(2, "c.md: no such file"), (3, "b.md#second: no such heading")])

    def test_code_is_skipped(self):
        self.assertEqual(self.broken("```\n[c](c.md)\n```\n\n    [c](c.md)\n"), [])

    def test_names_of_pages_in_sources(self):
        text = "// docs/b.md describes it.\n# docs/c.md too, and build/docs/d.md not"
        self.assertEqual(list(check_links.missing_pages(text, {"docs/b.md"})),
                         [(2, "docs/c.md: no such file")])

    def test_unlisted_pages(self):
        text = "[b](b.md#part) [c](../examples/c/README.md)"
        self.assertEqual(list(check_links.unlisted("docs/README.md", text,
                                                   {"docs/b.md", "docs/d.md", "examples/c"})),
                         [(1, "no link to docs/d.md")])


class Layers(unittest.TestCase):
    def test_rows_of_the_page(self):
        rows, repeated = check_layers.rows_of_page(
            "| type | settings |\n| `ReLU` | `relu_param` | Caffe | |\n| `Mish` | - | forks | |\n"
            "| `Mish` | - | forks | |\n")
        self.assertEqual(rows, {"ReLU": {"relu_param"}, "Mish": set()})
        self.assertEqual(repeated, ["Mish"])

    def test_differences(self):
        code = {"ReLU": {"relu_param"}, "Mish": set(), "Tile": {"tile_param"}}
        page = {"ReLU": set(), "Mish": set(), "Other": set()}
        self.assertEqual(list(check_layers.differences(code, page, ["Mish"])),
                         ["no row for layer type Tile",
                          "Other is no layer type of frontends/prototxt/layers",
                          "Mish has two rows", "the settings of ReLU are relu_param"])


class Environment(unittest.TestCase):
    def test_names(self):
        code = check_environment.names_of_code(
            'std::getenv("HOME"); for (const char *variable : {"TMP", "TMPDIR"}) f(variable);\n'
            'boolean("GLOG_log_prefix", true); ::setenv("GLOG_" + x);\n'
            'constexpr char kNameVariable[] = "BREW_A";')
        self.assertEqual(code, {"HOME", "TMP", "TMPDIR", "GLOG_log_prefix", "BREW_A"})
        page = check_environment.names_of_page("| variable | meaning |\n"
                                               "| `HOME`, `TMP` | as `PATH` |\n")
        self.assertEqual(page, {"HOME", "TMP"})
        self.assertEqual(list(check_environment.differences({"HOME"}, {"TMP"})),
                         ["the sources read HOME, which is not listed", "no source reads TMP"])


class Options(unittest.TestCase):
    BREWC = """OVERVIEW: text

OPTIONS:
  --batch=<N>                  - Batch size that replaces the net's
  --emit=<phase>               - Print the module (default: none)
    =graph                     -   shapes, as --batch
  --no-library[=<GROUP,...>]   - Generate code
  -o <file>                    - Plan to write
"""
    RUN = """Usage: brew-run train [OPTIONS] [plan]

Options:
  -h,--help                   Print this help message and exit
  --plan,--model PLAN         Plan file written by brewc
  --threads N=0               Worker threads (0: OMP_NUM_THREADS, else one per core)
  --init PATTERN=FILLER ...   Filler, e.g. 'ip*.weights=xavier' (may be repeated)
  --format TEXT:{lmdb,npy}    lmdb (default) or npy
  --resume                    Resume
  --ranks INT:INT in [1 - 4096] Needs: --plan
                              Number of processes (default 2; 1: none)
  --outputs FILE REQUIRED     File

Monitor:
  --monitor{:6060}            Serve a page
"""

    def tools(self):
        tools = option_tables.Tools.__new__(option_tables.Tools)
        tools.accepted = {"-vmodule"}
        tools.options = {"brewc": option_tables.brewc_options(self.BREWC),
                         "caffe": option_tables.brewc_options("  -log_prefix     - text\n"),
                         "brew-run train": option_tables.cli11_options(self.RUN),
                         "brew-run test": option_tables.cli11_options(
                             self.RUN.replace("  --resume      ", "  --json        "))}
        return tools

    def test_help_of_brewc(self):
        self.assertEqual([option.row() for option in self.tools().options["brewc"]], [
            "| `--batch=N` |  | Batch size that replaces the net's |",
            "| `--emit=phase` | `none` | Print the module: `graph` (shapes, as `--batch`) |",
            "| `--no-library[=GROUP,...]` |  | Generate code |",
            "| `-o file` |  | Plan to write |"])

    def test_help_of_commands(self):
        options = self.tools().of("brew-run train")
        self.assertEqual([option.row() for option in options], [
            "| `--plan`, `--model PLAN` |  | Plan file written by brewc |",
            "| `--threads N` | `0` | Worker threads (0: `OMP_NUM_THREADS`, else one per core) |",
            "| `--init PATTERN=FILLER` |  | Filler, e.g. `ip*.weights=xavier` (may be repeated) |",
            "| `--format lmdb\\|npy` | `lmdb` | lmdb or npy |",
            "| `--resume` |  | Resume |",
            "| `--ranks N` | `2` | Number of processes (1: none); needs `--plan` |",
            "| `--outputs FILE` |  | File; required |",
            "| `--monitor[=VALUE]` |  | Serve a page; without a value `:6060` |"])
        self.assertEqual([option.group for option in options], [""] * 7 + ["Monitor"])

    def test_tables(self):
        tools, listed = self.tools(), {}
        page = ("<!-- options: brew-run train test -->\nold\n<!-- end of options -->\n"
                "<!-- options: brew-run train -->\n<!-- end of options -->\n")
        written = option_tables.with_tables(page, tools, listed)
        self.assertEqual(option_tables.with_tables(written, tools, {}), written)
        self.assertNotIn("old", written)
        first, second = written.split("<!-- end of options -->")[:2]
        self.assertIn("--threads", first)
        self.assertIn("**Monitor**\n\n| option |", first)
        self.assertNotIn("--resume", first)
        self.assertIn("| `--resume` |  | Resume |", second)
        self.assertNotIn("--threads", second)
        self.assertEqual(list(option_tables.unlisted(tools, listed)),
                         ["docs/brewc.md: no table lists --batch of brewc",
                          "docs/brewc.md: no table lists --emit of brewc",
                          "docs/brewc.md: no table lists --no-library of brewc",
                          "docs/brewc.md: no table lists -o of brewc",
                          "docs/caffe.md: no table lists -log_prefix of caffe",
                          "docs/brew-run.md: no table lists --json of brew-run test"])

    def test_unknown_options(self):
        def found(text):
            return [problem for _, problem in
                    option_tables.unknown_options("docs/brewc.md", text, self.tools())]
        self.assertEqual(found(
            "`--batch`, `brewc --emit graph`, `caffe -nolog_prefix -vmodule=x`, `--mlir-x`\n\n"
            "    $ brewc net --batch=3 && brew-run train p --resume  # --none\n"), [])
        self.assertEqual(found("`--none`"), ["--none is no option of the tools"])
        self.assertEqual(found("`brew-run train --json`"),
                         ["--json is no option of brew-run train"])
        self.assertEqual(found("\n    brewc net \\\n      --resume\n"),
                         ["--resume is no option of brewc"])


class Readme(unittest.TestCase):
    PERFORMANCE = """
### Training

| net, batch | type | PyTorch / Brew | Brew MB | PyTorch MB |
| ---------- | ---- | -------------: | ------: | ---------: |
| LeNet, 64  | f32  |           2.39 |   60.65 |        755 |
| LeNet, 64  | bf16 |           2.10 |   56.17 |        756 |

### Inference

| net, batch | type | ONNX Runtime / Brew | OpenVINO / Brew |
| ---------- | ---- | ------------------: | --------------: |
| LeNet, 1   | f32  |                1.70 |            1.88 |

### More
"""

    def differences(self, row):
        return list(check_readme.differences(row, self.PERFORMANCE))

    def test_rows(self):
        self.assertEqual(self.differences("| LeNet (64) | 2.39 | 61 / 755 | 1.70 | 1.88 |"), [])
        self.assertEqual(self.differences("| LeNet (64) | 2.40 | 61 / 755 | 1.70 | 1.88 |"),
                         ["LeNet: has 2.40 61 755 1.70 1.88 instead of 2.39 61 755 1.70 1.88"])
        self.assertEqual(len(self.differences("| LeNet (32) | 2.39 | 61 / 755 | 1.70 | 1.88 |")), 1)
        self.assertEqual(self.differences(""), ["the table of times is missing"])


if __name__ == "__main__":
    unittest.main()
