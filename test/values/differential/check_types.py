#!/usr/bin/python3
"""Fails unless the sweep over all layer types has a case of each.

usage: check_types.py SOURCE_FOLDER

The types are the rows of frontends/prototxt/layers. That the cases of types with a gradient
cover their settings too is checked by values/gradients/check_coverage.py.
"""
import sys

from case_nets import all_cases  # first: it adds the folder of the gradients' cases
from check_coverage import kinds

# What the sweep leaves to other tests, and why.
ELSEWHERE = {
    'AnnotatedData': 'draws parts of images',
    'Input': 'is in every net',
    'MemoryData': 'is given its arrays in another way by each interface',
    'MemoryLoss': 'has a gradient of its caller',
    'WindowData': 'draws windows',
}


def main():
    covered = {layer.type for case in all_cases() for layer in case.layers}
    types = set(kinds(sys.argv[1]))
    missing = sorted(types - covered - set(ELSEWHERE))
    for kind in missing:
        print('FAIL %s: no case' % kind)
    for kind in sorted(set(ELSEWHERE) - types):
        print('FAIL %s: is no layer type' % kind)
    print('%d types, %d in the sweep' % (len(types), len(types & covered)))
    sys.exit(bool(missing))


if __name__ == '__main__':
    main()
