"""Every option of the runtime's table appears in the manual, in --help and in Python, and
brew-run has no flag of the same name that comes from elsewhere."""
import inspect
import os
import re
import subprocess
import unittest

import brew
import numpy as np
from brew import _core, _options

#: The tool of the same build.
BREW_RUN = os.path.join(os.path.dirname(_core.__file__), "../../bin/brew-run")
DOCS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs")
COMMANDS = ["train", "test", "eval", "infer", "features", "embed", "time", "tune", "inspect", "monitor"]


def help_of(command):
    return subprocess.run([BREW_RUN, command, "--help"], capture_output=True, text=True, check=True).stdout


class OptionsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.table = {option.name: option for option in _core.options()}
        cls.help = {command: help_of(command) for command in COMMANDS}

    def test_each_command_has_the_flags_of_its_rows(self):
        for name, option in self.table.items():
            for command in COMMANDS:
                flags = re.findall(r"^ +--%s\b(?!-)" % re.escape(name), self.help[command], flags=re.M)
                if command in option.commands.split():
                    self.assertEqual(len(flags), 1, "--%s in the help of %s" % (name, command))
                elif name not in ("weights", "random-seed", "learning-rate"):
                    # These names have another meaning where a command declares them itself.
                    self.assertEqual(flags, [], "--%s in the help of %s" % (name, command))

    def test_inspect_and_monitor_take_what_they_use(self):
        for command in ("inspect", "monitor"):
            for flag in ("--threads", "--gpu", "--timing-cache", "--deterministic", "--host-plugin"):
                self.assertNotIn(flag, self.help[command])

    def test_the_manual_describes_every_option(self):
        with open(os.path.join(DOCS, "brew-run.md"), encoding="utf-8") as file:
            manual = file.read()
        missing = [name for name, option in self.table.items() if option.commands and "--" + name not in manual]
        self.assertEqual(missing, [])

    def test_sessions_in_python_take_every_option(self):
        parameters = inspect.signature(brew.Session).parameters
        names = set(_options.RUNTIME) - {"random_seed"}  # `seed`
        self.assertEqual(names - set(parameters), set())
        for name in names - {"weights"}:
            self.assertIn("``%s``" % name, brew.Session.__doc__)

    def test_unknown_keywords_are_errors_with_a_suggestion(self):
        plan = brew.compile('layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 1 } } }')
        with self.assertRaisesRegex(TypeError, "unexpected keyword argument 'thread'; did you mean 'threads'"):
            plan.session(thread=1)
        with self.assertRaisesRegex(ValueError, "keep_snapshots: only for training"):
            plan.session(keep_snapshots=2)
        with self.assertRaisesRegex(brew.Error, "--threads must be from 0 to 4096"):
            plan.session(threads=-1)
        # Values may be scalars of NumPy.
        plan.session(threads=np.int64(2), seed=np.int64(1), allow_missing_weights=np.bool_(True), keep_snapshots=np.int64(0))
        with self.assertRaisesRegex(ValueError, "keep_snapshots: only for training"):
            plan.session(keep_snapshots=np.int64(2))

    def test_fields_of_the_solver_are_keywords(self):
        net = """
            layer { name: "in" type: "Input" top: "x" top: "t"
              input_param { shape { dim: 2 dim: 3 } shape { dim: 2 dim: 1 } } }
            layer { name: "ip" type: "InnerProduct" bottom: "x" top: "y" inner_product_param { num_output: 1 } }
            layer { name: "loss" type: "EuclideanLoss" bottom: "y" bottom: "t" }"""
        session = brew.compile(net).session(base_lr=0.25, test_iter=[3], snapshot_after_train=False)
        self.assertEqual(session.field("base_lr"), "0.25")
        self.assertEqual(session.field("snapshot_after_train"), "false")
        with self.assertRaisesRegex(brew.Error, "base_lr takes a number"):
            brew.compile(net).session(base_lr="fast")


if __name__ == "__main__":
    unittest.main()
