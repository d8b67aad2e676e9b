#!/usr/bin/env python3
"""Configures the runtime twice. A Release build keeps assertions by default; flags that the
builder sets are used unchanged.
"""
import argparse
import json
import shutil
import subprocess
import sys

parser = argparse.ArgumentParser()
for flag in ('cmake', 'source', 'cc', 'cxx', 'scratch'):
    parser.add_argument('--' + flag, required=True)
options = parser.parse_args()


def compile_commands(*flags):
    """Yields the compiler's command for each file after the first and the second configuration."""
    shutil.rmtree(options.scratch, ignore_errors=True)
    configure = [options.cmake, '-S', options.source, '-B', options.scratch, '-G', 'Ninja',
                 '-DCMAKE_BUILD_TYPE=Release', '-DBREW_BUILD_COMPILER=OFF',
                 '-DBREW_BUILD_TESTS=OFF', '-DCMAKE_EXPORT_COMPILE_COMMANDS=ON',
                 '-DCMAKE_C_COMPILER=' + options.cc,
                 '-DCMAKE_CXX_COMPILER=' + options.cxx, *flags]
    for command in (configure, [options.cmake, options.scratch]):
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        with open(options.scratch + '/compile_commands.json') as file:
            for entry in json.load(file):
                yield entry['command'].split()


def expect(required_flags, forbidden_flags, flags):
    for command in compile_commands(*flags):
        for flag in required_flags:
            if flag not in command:
                sys.exit('%s: no %s in %s' % (flags, flag, ' '.join(command)))
        for flag in forbidden_flags:
            if flag in command:
                sys.exit('%s: %s in %s' % (flags, flag, ' '.join(command)))


expect(['-O2'], ['-DNDEBUG', '-O3'], [])
# CMake's default flags, set explicitly.
expect(['-O3', '-DNDEBUG'], ['-O2'],
       ['-DCMAKE_%s_FLAGS_RELEASE=-O3 -DNDEBUG' % language for language in ('C', 'CXX')])
shutil.rmtree(options.scratch)
