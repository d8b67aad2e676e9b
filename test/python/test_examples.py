"""Runs the tutorial at a small size, and the examples of the documentation."""
import contextlib
import doctest
import io
import os
import runpy
import unittest
from unittest import mock

import numpy as np

from common import DEPLOY, Case

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Tutorial(Case):
    def test_lenet(self):
        size = {"LENET_ITERATIONS": "60", "LENET_OUT": self.folder}
        with mock.patch.dict(os.environ, size), contextlib.redirect_stdout(io.StringIO()) as out:
            made = runpy.run_path(os.path.join(ROOT, "examples", "python", "lenet.py"))
        self.assertGreater(made["accuracy"], 0.6)
        self.assertEqual(len(made["loss"]), 60)
        self.assertIn("<polyline", made["curve"]._repr_svg_())
        for name in ("lenet.caffemodel", "lenet.plan", "loss.svg"):
            self.assertTrue(os.path.getsize(self.path(name)))
        self.assertIn("says", out.getvalue())


class Pages(Case):
    def test_examples_of_the_page(self):
        page = os.path.join(ROOT, "docs", "python.md")
        with open(self.path("deploy.prototxt"), "w") as file:
            file.write(DEPLOY)
        before = os.getcwd()
        os.chdir(self.folder)
        self.addCleanup(os.chdir, before)
        failed, tried = doctest.testfile(page, module_relative=False, globs={"np": np},
                                         optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
        self.assertEqual(failed, 0)
        self.assertGreater(tried, 20)


if __name__ == "__main__":
    unittest.main()
