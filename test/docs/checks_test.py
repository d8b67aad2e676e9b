"""Tests that check_links.py, check_layers.py and check_readme.py find what is wrong."""
import os
import tempfile
import unittest

import check_layers
import check_links
import check_readme


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
