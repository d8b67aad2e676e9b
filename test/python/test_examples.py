"""Runs the tutorial with few iterations, and the examples of the documentation."""
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
        settings = {"LENET_ITERATIONS": "60", "LENET_OUT": self.folder}
        with mock.patch.dict(os.environ, settings), contextlib.redirect_stdout(io.StringIO()) as out:
            variables = runpy.run_path(os.path.join(ROOT, "examples", "python", "lenet.py"))
        self.assertGreater(variables["accuracy"], 0.6)
        self.assertEqual(len(variables["loss"]), 60)
        self.assertIn("<polyline", variables["curve"]._repr_svg_())
        for name in ("lenet.caffemodel", "lenet.dot", "lenet.plan", "loss.svg"):
            self.assertTrue(os.path.getsize(self.path(name)))
            self.assertIn(name, out.getvalue().splitlines()[-1])
        self.assertIn("predicted", out.getvalue())
        self.assertIn("iteration    0: loss ", out.getvalue())
        self.assertIn("files go to " + self.folder, out.getvalue())
        self.assertNotIn("digraph", out.getvalue())


class Documentation(Case):
    def test_examples_of_python_md(self):
        page = os.path.join(ROOT, "docs", "python.md")
        with open(self.path("deploy.prototxt"), "w") as file:
            file.write(DEPLOY)
        old_folder = os.getcwd()
        os.chdir(self.folder)
        self.addCleanup(os.chdir, old_folder)
        failed, tried = doctest.testfile(page, module_relative=False, globs={"np": np},
                                         optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
        self.assertEqual(failed, 0)
        self.assertGreater(tried, 20)


if __name__ == "__main__":
    unittest.main()
