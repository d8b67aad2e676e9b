#!/usr/bin/env python3
"""Installs a build to a scratch prefix, moves the prefix, and tests it: the tools, the
CMake package and the pkg-config files. Builds the programs of examples/c with both, and those of
examples/cpp with the CMake package.
"""
import argparse
import glob
import os
import re
import shutil
import subprocess
import sys

parser = argparse.ArgumentParser()
for flag in ('cmake', 'build', 'examples', 'cc', 'cxx', 'scratch'):
    parser.add_argument('--' + flag, required=True)
options = parser.parse_args()

NET = '''name: "net"
layer { name: "data" type: "DummyData" top: "data" top: "label"
  dummy_data_param { shape { dim: 4 dim: 3 } shape { dim: 4 } } }
layer { name: "ip" type: "InnerProduct" bottom: "data" top: "ip"
  inner_product_param { num_output: 2 } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "ip" bottom: "label" }
'''
SOLVER = 'net: "net.prototxt" base_lr: 0.1 lr_policy: "fixed" max_iter: 2 snapshot_after_train: false\n'


def run(*command, **run_options):
    print('$', *command, flush=True)
    # The prefix must work without LD_LIBRARY_PATH.
    environment = {name: value for name, value in os.environ.items()
                   if name != 'LD_LIBRARY_PATH'}
    environment.update(run_options.pop('environment', {}))
    status = run_options.pop('status', 0)
    done = subprocess.run(command, env=environment, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False, **run_options)
    print(done.stdout, end='', flush=True)
    if done.returncode != status:
        sys.exit('%s: status %d' % (command[0], done.returncode))
    return done.stdout


def run_fails(line, *command):
    """Expects exit status 3 and this last line."""
    printed = run(*command, status=3, cwd=options.scratch)
    expect(printed.endswith(line + '\n'), 'the last line is not: ' + line)


def expect(condition, text):
    if not condition:
        sys.exit(text)


def text_files(folder):
    for path in glob.glob(folder + '/**', recursive=True):
        if path.endswith(('.cmake', '.pc')):
            with open(path) as file:
                yield path, file.read()


shutil.rmtree(options.scratch, ignore_errors=True)
first, prefix = options.scratch + '/first', options.scratch + '/moved/here'
run(options.cmake, '--install', options.build, '--prefix', first, stdin=subprocess.DEVNULL)
os.makedirs(os.path.dirname(prefix))
os.rename(first, prefix)

has_compiler = os.path.exists(prefix + '/bin/brewc')
tools = ['brew-run', 'brew-data'] + ['brewc'] * has_compiler
for header in ('compiler.h', 'compiler.hpp'):
    expect(os.path.exists('%s/include/brew/%s' % (prefix, header)) == has_compiler,
           header + ' must exist if and only if the compiler is installed')
for tool in tools:
    expect(os.path.exists('%s/share/bash-completion/completions/%s' % (prefix, tool)),
           'no completion for ' + tool)
if glob.glob(options.build + '/package/*.1'):
    for tool in tools:
        with open('%s/share/man/man1/%s.1' % (prefix, tool)) as page:
            expect('\n%s - ' % tool in page.read().replace('\\-', '-'),
                   '%s.1 has no name for whatis' % tool)
for path, text in text_files(prefix):
    for folder in (options.build, first):
        expect(folder not in text, '%s names %s' % (path, folder))
for path in glob.glob(prefix + '/bin/*') + glob.glob(prefix + '/lib*/**/*.so*', recursive=True):
    paths = re.findall(r'R(?:UN)?PATH.*\[(.*)\]', run('readelf', '-d', path).replace(
        'Library runpath', 'RUNPATH').replace('Library rpath', 'RPATH'))
    for entry in ':'.join(paths).split(':'):
        expect(not entry or entry.startswith('$ORIGIN'), '%s looks in %s' % (path, entry))

if not has_compiler:
    run(prefix + '/bin/brew-run', '--version')
    print('Built without the compiler: there is no plan to run')
    sys.exit(77)

with open(options.scratch + '/net.prototxt', 'w') as file:
    file.write(NET)
with open(options.scratch + '/solver.prototxt', 'w') as file:
    file.write(SOLVER)
run(prefix + '/bin/brewc', 'solver.prototxt', '-o', 'net.plan', cwd=options.scratch)
expect('Optimization Done' in run(prefix + '/bin/brew-run', 'train', 'net.plan',
                                  cwd=options.scratch), 'the net was not trained')

# The CMake package. Its programs find the libraries by the RPATH that CMake sets.
examples = options.scratch + '/examples'
run(options.cmake, '-S', options.examples, '-B', examples, '-DCMAKE_C_COMPILER=' + options.cc,
    '-DCMAKE_PREFIX_PATH=' + prefix)
run(options.cmake, '--build', examples)
programs = sorted(os.path.splitext(os.path.basename(path))[0]
                  for path in glob.glob(options.examples + '/*.c'))
for program in programs:
    expect(os.path.exists(examples + '/' + program), 'CMake built no ' + program)

# pkg-config. Each program links the libraries of the headers that it includes.
modules = {}
for program in programs:
    with open('%s/%s.c' % (options.examples, program)) as file:
        text = file.read()
    modules[program] = [module for header, module in
                        (('brew/brew.h', 'brew-runtime'), ('brew/compiler.h', 'brew-compiler'))
                        if header in text]
pkgconfig_folders = glob.glob(prefix + '/lib*/**/pkgconfig', recursive=True)
for program in programs:
    flags = run('pkg-config', '--cflags', '--libs', *modules[program],
                environment={'PKG_CONFIG_PATH': pkgconfig_folders[0]}).split()
    run(options.cc, '-std=c99', '%s/%s.c' % (options.examples, program), '-o',
        '%s/%s-pc' % (options.scratch, program), *flags, '-lm',
        '-Wl,-rpath,' + os.path.dirname(pkgconfig_folders[0]))

# Arguments of each program, and its expected output.
run(prefix + '/bin/brewc', options.examples + '/../mnist/lenet.prototxt', '-o', 'lenet.plan',
    cwd=options.scratch)
run(prefix + '/bin/brewc', options.examples + '/line_solver.prototxt', '-o', 'line.plan',
    cwd=options.scratch)
tests = options.examples + '/../../test'
run(prefix + '/bin/brewc', tests + '/unit/api/columns.prototxt', '-o', 'columns.plan', cwd=options.scratch)
arguments = {'compile': (['relu.plan'], 'bytes of plan'), 'infer': ([], 'sums: 6 15'),
             'classify': (['columns.plan', tests + '/fuzz/corpus/image/gray.png'], 'gray.png: class '),
             'inference': (['lenet.plan'], 'prob: 0.'),
             'host_layer': ([], 'loss after 500 iterations: 0.00'),
             'training': (['line.plan', 'line.caffemodel'], 'y = 2.00 a + -3.00 b + 1.00')}
for program in programs:
    program_arguments, printed = arguments[program]
    for path in (examples + '/' + program, '%s/%s-pc' % (options.scratch, program)):
        expect(printed in run(path, *program_arguments, cwd=options.scratch),
               path + ' printed something else')

# The same for the programs in C++.
cpp_source, cpp_examples = options.examples + '/../cpp', options.scratch + '/cpp_examples'
run(options.cmake, '-S', cpp_source, '-B', cpp_examples, '-DCMAKE_CXX_COMPILER=' + options.cxx,
    '-DCMAKE_PREFIX_PATH=' + prefix)
run(options.cmake, '--build', cpp_examples)
run(prefix + '/bin/brewc', cpp_source + '/policy.prototxt', '--output-gradient', 'logits', '-o',
    'policy.plan', cwd=options.scratch)
cpp_arguments = {'host_layer': ([], 'by at most '), 'policy': (['policy.plan'], 'after 39 updates '),
                 'training': (['line.plan'], 'y = 2.00 a + -3.00 b + 1.00')}
for path in sorted(glob.glob(cpp_source + '/*.cpp')):
    program = os.path.splitext(os.path.basename(path))[0]
    program_arguments, printed = cpp_arguments[program]
    expect(printed in run(cpp_examples + '/' + program, *program_arguments, cwd=options.scratch),
           program + ' printed something else')

# The plugin for OpenCV is found in the prefix. Its absence is an error only if it is needed.
SOFTMAX = options.examples + '/../cartpole/softmax_solver.prototxt'
run(prefix + '/bin/brewc', SOFTMAX, '-o', 'softmax.plan', cwd=options.scratch)
draw = [prefix + '/bin/brew-run', 'train', 'softmax.plan', '--env', 'cartpole', '--episodes', '1',
        '--threads', '1', '--draw', 'episode.png']
run(*draw, cwd=options.scratch)
with open(options.scratch + '/episode.png', 'rb') as file:
    expect(file.read(4) == b'\x89PNG', 'episode.png is no PNG')
plugin, = glob.glob(prefix + '/lib*/**/libbrew_opencv.so', recursive=True)
os.remove(plugin)
run(prefix + '/bin/brew-run', 'train', 'net.plan', cwd=options.scratch)
MISSING = ("brew-run: error: cannot %s without Brew's plugin for OpenCV, which cannot be opened: "
           "%s; Debian's package brew-runtime installs it beside libbrew_runtime, and "
           "libopencv-imgproc406 the OpenCV that it needs")
NO_FILE = 'libbrew_opencv.so: cannot open shared object file: No such file or directory'
run_fails(MISSING % ('draw an episode', NO_FILE), *draw)
run_fails(MISSING % ('compute principal components', NO_FILE), prefix + '/bin/brew-run', 'embed',
          'net.plan', 'images.txt', '--blob', 'ip', '--output', 'layout.npy')
# A plugin of another version of Brew.
with open(options.scratch + '/other.c', 'w') as file:
    file.write('const void *brew_opencv_functions(void);\n'
               'const void *brew_opencv_functions(void) {\n'
               '  static const unsigned version = 0;\n  return &version;\n}\n')
run(options.cc, '-shared', '-fPIC', options.scratch + '/other.c', '-o', plugin)
loaded_path = prefix + '/bin/' + os.path.relpath(plugin, prefix + '/bin')
run_fails(MISSING % ('draw an episode', loaded_path + ' is of another version of Brew'), *draw)
shutil.rmtree(options.scratch)
