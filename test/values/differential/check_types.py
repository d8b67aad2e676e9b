#!/usr/bin/python3
"""Fails unless the sweep has a case of every layer type.

usage: check_types.py SOURCE_FOLDER

The types are the rows of frontends/prototxt/layers. values/gradients/check_coverage.py checks that
the cases of types with a gradient also cover their settings.
"""
import sys

from case_nets import all_cases  # first: adds the folder of the gradients' cases to the path
from check_coverage import kinds

# Types that only other tests cover, and why the sweep does not.
COVERED_ELSEWHERE = {
    'AnnotatedData': 'draws parts of images',
    'Input': 'is in every net',
    'MemoryData': 'gets its arrays differently in each interface',
    'MemoryLoss': 'has a gradient that the caller provides',
    'Python': 'is computed by the host program',
    'WindowData': 'draws windows',
}


def main():
    covered = {layer.type for case in all_cases() for layer in case.layers}
    types = set(kinds(sys.argv[1]))
    missing = sorted(types - covered - set(COVERED_ELSEWHERE))
    for kind in missing:
        print('FAIL %s: no case' % kind)
    for kind in sorted(set(COVERED_ELSEWHERE) - types):
        print('FAIL %s: is no layer type' % kind)
    print('%d types, %d in the sweep' % (len(types), len(types & covered)))
    sys.exit(bool(missing))


if __name__ == '__main__':
    main()
