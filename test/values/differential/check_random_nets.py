#!/usr/bin/python3
"""Runs random nets in all execution modes of Brew, and compares the values.

usage: check_random_nets.py [--count N] [--first NUMBER] [--share I/N] [--verbose]

Works like check_layers.py, but on complete random nets (random_nets.py). The number of a net
determines the net, so runs are reproducible.
"""
import argparse
import os
import sys
import tempfile

from check_layers import Sweep
from random_nets import RandomNet


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--count', type=int, default=200, help='number of nets')
    parser.add_argument('--first', type=int, default=0, help='number of the first net')
    parser.add_argument('--share', default='0/1', help='I/N: every Nth net, from the Ith on')
    parser.add_argument('--verbose', action='store_true')
    options = parser.parse_args()
    sweep = Sweep(options)
    first, step = (int(n) for n in options.share.split('/'))
    numbers = range(options.first + first, options.first + options.count, step)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for number in numbers:
            form = RandomNet(number)
            if options.verbose:
                print(form.name, flush=True)
            sweep.check(form, folder)
        os.chdir('/')
    print('%d nets, %d runs, %d failures' % (len(numbers), sweep.compared, sweep.failures))
    if options.verbose:
        print(', '.join('%s %.1f s' % each for each in sorted(sweep.seconds.items())))
    sys.exit(sweep.failures != 0)


if __name__ == '__main__':
    main()
