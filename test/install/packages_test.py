#!/usr/bin/env python3
"""Makes Debian packages by the rules of cmake/BrewPackages.cmake, of one small file per component,
and checks their control files: names, descriptions, maintainers and dependencies.
"""
import argparse
import glob
import os
import re
import shutil
import subprocess
import sys

parser = argparse.ArgumentParser()
for flag in ('cmake', 'source', 'scratch'):
    parser.add_argument('--' + flag, required=True)
options = parser.parse_args()
if not shutil.which('dpkg-deb'):
    print('skipped: dpkg-deb is not installed')
    sys.exit(77)

PROJECT = '''cmake_minimum_required(VERSION 3.22)
project(Brew VERSION 0.1.0 LANGUAGES NONE)
set(brew_components runtime compiler)
set(BREW_BUILD_COMPILER ON)
add_library(brew_mpi INTERFACE)
file(WRITE ${CMAKE_BINARY_DIR}/file "text")
foreach(component runtime compiler dev mpi)
  install(FILES ${CMAKE_BINARY_DIR}/file DESTINATION share/${component} COMPONENT ${component})
endforeach()
include(${SOURCE}/cmake/BrewPackages.cmake)
'''
SUMMARIES = {'brew-runtime': 'Runs compiled Caffe nets',
             'brew-compiler': 'Compiles Caffe nets',
             'brew-dev': 'Compiler and runtime for Caffe nets, for other programs',
             'brew-mpi': 'Trains Caffe nets on several ranks'}


def expect(condition, text):
    if not condition:
        sys.exit(text)


def field(package, name):
    return subprocess.run(['dpkg-deb', '-f', package, name], check=True, text=True,
                          stdout=subprocess.PIPE).stdout.rstrip('\n')


shutil.rmtree(options.scratch, ignore_errors=True)
project, build = options.scratch + '/project', options.scratch + '/build'
os.makedirs(project)
with open(project + '/CMakeLists.txt', 'w') as file:
    file.write(PROJECT)
subprocess.run([options.cmake, '-S', project, '-B', build, '-DSOURCE=' + options.source,
                '-DBREW_PACKAGE_MAINTAINER=A Builder <builder@example.invalid>'], check=True,
               stdin=subprocess.DEVNULL)
cpack = os.path.join(os.path.dirname(options.cmake), 'cpack')
subprocess.run([cpack, '-G', 'DEB', '-D', 'CPACK_DEBIAN_PACKAGE_SHLIBDEPS=OFF'], check=True,
               cwd=build, stdin=subprocess.DEVNULL)

summaries = {}
for package in glob.glob(build + '/*.deb'):
    name = field(package, 'Package')
    summary, _, body = field(package, 'Description').partition('\n')
    print('%s: %s' % (name, summary))
    summaries[name] = summary
    expect(body.strip(), name + ' has no long description')
    expect(summary not in body, name + ' repeats its summary')
    maintainer = field(package, 'Maintainer')
    expect(re.fullmatch(r'[^<>]+ <\S+@\S+>', maintainer),
           '%s: the maintainer has no address: %s' % (name, maintainer))
    if name != 'brew-runtime':
        expect('brew-runtime (= 0.1.0)' in field(package, 'Depends'),
               name + ' does not depend on brew-runtime')
expect(summaries == SUMMARIES, 'the packages are %s' % summaries)
shutil.rmtree(options.scratch)
