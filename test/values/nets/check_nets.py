#!/usr/bin/python3
"""Compiles the published nets of benchmarks/nets and runs them on synthetic data.

usage: check_nets.py --bin DIR --nets FOLDER [--target T] [--brewc-flags=FLAGS]
                     [--compile NAME ...] [--step NAME ...] [--as-on-cpu]

Nets named by --compile are compiled for training. For each, the memory in the report must be
plausible: the arena is close to its lower bound, and smaller than Caffe's memory. If the target's
compiler is not installed, the script exits with 77 (skipped). Nets named by --step also run one
forward and one backward pass with a batch of two. The loss and the gradients of all parameters must
be finite, and no gradient may be zero. With --as-on-cpu, a CPU plan runs the same step, and the
losses must agree: both use the same fillers, synthetic data and dropout masks.
"""
import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time

import h5py
import numpy as np

SKIPPED = 77
# The largest allowed ratio of the arena to its lower bound.
ARENA_OVER_BOUND = 1.1
# Rounding in f32 through dozens of layers; a different mask or filler exceeds it by far.
LOSS_TOLERANCE = 1e-4


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError('%s -> %d: %s' % (' '.join(command), done.returncode,
                                             done.stderr.strip()[-1000:]))
    return done.stdout


class Nets:
    def __init__(self, options):
        self.options = options
        self.brewc = os.path.join(options.bin, 'brewc')
        self.brew_run = os.path.join(options.bin, 'brew-run')
        self.flags = ['--target', options.target] + options.brewc_flags.split()

    def net_path(self, name):
        return os.path.join(self.options.nets, name + '.prototxt')

    def compile(self, name, folder):
        begin = time.time()
        report = json.loads(run(self.brewc, self.net_path(name), '--batch', '2', '--report=json', '-o',
                                os.path.join(folder, 'plan'), *self.flags))
        seconds = time.time() - begin
        for program in ('forward_backward', 'test_0'):
            memory = report['programs'][program]['memory']
            arena, bound = memory['arena_bytes'], memory['lower_bound_bytes']
            if arena > ARENA_OVER_BOUND * bound:
                raise RuntimeError('%s: an arena of %d bytes, but the lower bound is %d' %
                                   (program, arena, bound))
            if arena > memory['caffe_bytes']:
                raise RuntimeError('%s: an arena of %d bytes, but Caffe needs %d' %
                                   (program, arena, memory['caffe_bytes']))
        memory = report['programs']['forward_backward']['memory']
        print('%s: compiled in %.1f s, arena %.1f MB (bound %.1f, Caffe %.1f)' % (
            name, seconds, *(memory[key] / 1e6 for key in (
                'arena_bytes', 'lower_bound_bytes', 'caffe_bytes'))))

    def run_pass(self, name, folder, flags):
        """Returns the losses and gradients of one pass, by name."""
        plan, out = os.path.join(folder, 'step'), os.path.join(folder, 'out.h5')
        h5py.File(os.path.join(folder, 'none.h5'), 'w').close()
        run(self.brewc, self.net_path(name), '--batch', '2', '--phase', 'train', '--gradients', '-o',
            plan, *flags)
        run(self.brew_run, 'eval', plan, '--inputs', os.path.join(folder, 'none.h5'), '--outputs',
            out, '--gradients')
        losses, gradients = {}, {}
        # A blob's name may have slashes, which are groups in the file.
        with h5py.File(out, 'r') as values:
            values['data'].visititems(
                lambda key, item: losses.update({key: float(np.sum(item))})
                if isinstance(item, h5py.Dataset) else None)
            values['param_diff'].visititems(
                lambda key, item: gradients.update({key: item[()]})
                if isinstance(item, h5py.Dataset) else None)
        return losses, gradients

    def checked_losses(self, name, folder, flags):
        """Checks all values of one pass. Returns its losses and the number of gradients."""
        losses, gradients = self.run_pass(name, folder, flags)
        if not all(math.isfinite(loss) for loss in losses.values()):
            raise RuntimeError('losses %s' % losses)
        wrong = [key for key, gradient in gradients.items()
                 if not np.all(np.isfinite(gradient)) or not np.any(gradient)]
        if wrong or not gradients:
            raise RuntimeError('gradients that are zero or not finite: %s' % wrong)
        return losses, len(gradients)

    def step(self, name, folder):
        losses, count = self.checked_losses(name, folder, self.flags)
        if self.options.as_on_cpu:
            cpu_losses, _ = self.checked_losses(name, folder, ['--target', 'cpu'])
            if set(cpu_losses) != set(losses) or any(
                    abs(losses[key] - loss) > LOSS_TOLERANCE * abs(loss)
                    for key, loss in cpu_losses.items()):
                raise RuntimeError('losses %s, but %s on the CPU' % (losses, cpu_losses))
        print('%s: losses %s, %d gradients' % (name, losses, count))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--bin', required=True)
    parser.add_argument('--nets', required=True)
    parser.add_argument('--target', default='cpu')
    parser.add_argument('--brewc-flags', default='')
    parser.add_argument('--as-on-cpu', action='store_true')
    parser.add_argument('--compile', nargs='*', default=[])
    parser.add_argument('--step', nargs='*', default=[])
    options = parser.parse_args()
    nets, failed = Nets(options), 0
    for names, check in ((options.compile, nets.compile), (options.step, nets.step)):
        for name in names:
            with tempfile.TemporaryDirectory() as folder:
                try:
                    check(name, folder)
                except (RuntimeError, OSError, KeyError) as error:
                    if 'needs NVRTC' in str(error):
                        print('SKIP %s' % error)
                        sys.exit(SKIPPED)
                    failed += 1
                    print('FAIL %s: %s' % (name, error))
    sys.exit(failed > 0)


if __name__ == '__main__':
    main()
