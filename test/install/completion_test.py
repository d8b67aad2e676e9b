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


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def offered(script, *words):
    """Returns bash's completions of the last word, which bash may split at `=`."""
    function = '_' + NAME.replace('-', '_')
    quoted = ' '.join("'%s'" % word for word in (NAME,) + words)
    return output('bash', '-c', '''source "$1"
COMP_WORDS=(%s); COMP_CWORD=%d
%s
printf '%%s\\n' "${COMPREPLY[@]}"''' % (quoted, len(words), function), 'bash', script).split()


def long_flags(text):
    """Returns the flags that the output of --help lists at the beginning of lines."""
    flags = set()
    for line in text.splitlines():
        found = re.match(r'\s+((-\w|--[\w-]+)(,(-\w|--[\w-]+))*)', line)
        if found:
            flags.update(flag for flag in found.group(1).split(',') if flag.startswith('--'))
    return flags


class Completion(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.scripts = {}
        for shell in ('bash', 'zsh'):
            cls.scripts[shell] = os.path.join(cls.folder.name, '_' + NAME)
            with open(cls.scripts[shell] + shell, 'w') as file:
                file.write(output(TOOL, '--completion=' + shell))
            cls.scripts[shell] += shell
        cls.bash = cls.scripts['bash']

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def commands(self):
        return [] if NAME == 'brewc' else offered(self.bash, '')

    def test_flags_of_help(self):
        for command in [()] + [(command,) for command in self.commands()]:
            flags = long_flags(output(TOOL, *command, '--help'))
            self.assertGreater(len(flags), 0)
            missing = flags - set(offered(self.bash, *command, '--'))
            self.assertEqual(missing, set(), ' '.join(command))

    def test_values(self):
        if NAME == 'brewc':
            self.assertEqual(offered(self.bash, '--target', '=', 'cp'), ['cpu'])
            self.assertEqual(set(offered(self.bash, '--phase', '=')), {'train', 'test'})
        if NAME == 'brew-data':
            self.assertEqual(set(offered(self.bash, 'mnist', '--backend', '')),
                             {'lmdb', 'leveldb'})

    def test_commands(self):
        expected = {'brew-run': {'train', 'test', 'infer', 'inspect'},
                    'brew-data': {'mnist', 'cifar10', 'mean', 'list'}}.get(NAME, set())
        self.assertLessEqual(expected, set(self.commands()))

    def test_files(self):
        with open(os.path.join(self.folder.name, 'lenet.plan'), 'w'):
            pass
        begin = os.path.join(self.folder.name, 'len')
        words = {'brew-run': ('train', begin), 'brew-data': ('list', begin)}.get(NAME, (begin,))
        self.assertEqual(offered(self.bash, *words), [begin + 'et.plan'])

    @unittest.skipUnless(shutil.which('zsh'), 'zsh is not installed')
    def test_zsh_syntax(self):
        subprocess.run(['zsh', '-n', self.scripts['zsh']], check=True)

    def test_other_shell(self):
        self.assertNotEqual(subprocess.run([TOOL, '--completion=tcsh'],
                                           capture_output=True).returncode, 0)


if __name__ == '__main__':
    unittest.main()
