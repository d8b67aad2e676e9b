#!/usr/bin/env python3
"""Checks that bash completes the options that a tool's --help lists, and that zsh can parse its
script.

completion_test.py TOOL
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

TOOL = sys.argv.pop(1)
NAME = os.path.basename(TOOL)


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def completions(script, *words):
    """Returns bash's completions of the last word, which bash may split at `=`."""
    function = '_' + NAME.replace('-', '_')
    quoted = ' '.join("'%s'" % word for word in (NAME,) + words)
    return output_of('bash', '-c', '''source "$1"
COMP_WORDS=(%s); COMP_CWORD=%d
%s
printf '%%s\\n' "${COMPREPLY[@]}"''' % (quoted, len(words), function), 'bash', script).split()


def long_flags(text):
    """Returns the flags that the output of --help lists at the beginning of lines."""
    flags = set()
    for line in text.splitlines():
        flag_match = re.match(r'\s+((-\w|--[\w-]+)(,(-\w|--[\w-]+))*)', line)
        if flag_match:
            flags.update(flag for flag in flag_match.group(1).split(',') if flag.startswith('--'))
    return flags


class Completion(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.scripts = {}
        for shell in ('bash', 'zsh'):
            cls.scripts[shell] = os.path.join(cls.folder.name, '_' + NAME)
            with open(cls.scripts[shell] + shell, 'w') as file:
                file.write(output_of(TOOL, '--completion=' + shell))
            cls.scripts[shell] += shell
        cls.bash = cls.scripts['bash']

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def commands(self):
        return [] if NAME == 'brewc' else completions(self.bash, '')

    def test_all_flags_of_help_are_completed(self):
        for command in [()] + [(command,) for command in self.commands()]:
            flags = long_flags(output_of(TOOL, *command, '--help'))
            self.assertGreater(len(flags), 0)
            missing = flags - set(completions(self.bash, *command, '--'))
            self.assertEqual(missing, set(), ' '.join(command))

    def test_values_are_completed(self):
        if NAME == 'brewc':
            self.assertEqual(completions(self.bash, '--target', '=', 'cp'), ['cpu'])
            self.assertEqual(set(completions(self.bash, '--phase', '=')), {'train', 'test'})
        if NAME == 'brew-data':
            self.assertEqual(set(completions(self.bash, 'mnist', '--backend', '')),
                             {'lmdb', 'leveldb'})

    def test_commands_are_completed(self):
        expected = {'brew-run': {'train', 'test', 'infer', 'inspect'},
                    'brew-data': {'mnist', 'cifar10', 'mean', 'list'}}.get(NAME, set())
        self.assertLessEqual(expected, set(self.commands()))

    def test_files_are_completed(self):
        with open(os.path.join(self.folder.name, 'lenet.plan'), 'w'):
            pass
        prefix = os.path.join(self.folder.name, 'len')
        words = {'brew-run': ('train', prefix), 'brew-data': ('list', prefix)}.get(NAME, (prefix,))
        self.assertEqual(completions(self.bash, *words), [prefix + 'et.plan'])

    @unittest.skipUnless(shutil.which('zsh'), 'zsh is not installed')
    def test_zsh_parses_its_script(self):
        subprocess.run(['zsh', '-n', self.scripts['zsh']], check=True)

    def test_other_shells_are_errors(self):
        self.assertNotEqual(subprocess.run([TOOL, '--completion=tcsh'],
                                           capture_output=True).returncode, 0)


if __name__ == '__main__':
    unittest.main()
