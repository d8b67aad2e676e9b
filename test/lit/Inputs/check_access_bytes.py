"""Checks how wide the accesses of the published nets' kernels are on a GPU.

usage: check_access_bytes.py BREWC NETS [REPORTS]

Compiles each net of benchmarks/nets for training in bf16, with the batch that is measured,
as far as the report needs it, and checks the share of the bytes that kernels move 16 at a
time. A kernel that moves more than a hundredth of its net's bytes in narrower accesses must
be one of the exceptions, which say why it is. With REPORTS, a folder of NET.json, nothing is
compiled.
"""
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

WIDEST = 16
# Percent of the bytes that move 16 at a time, at least. Convolutions write what is joined in
# its place: there are no copies, which would move all 16 at a time.
SHARES = {'lenet': 55, 'cifar10_quick': 86, 'alexnet': 92, 'googlenet': 89, 'vgg16': 95,
          'resnet50': 93, 'squeezenet': 94, 'mobilenet': 99}
NARROW = 0.01
FEW_SUMS = 'few sums of channels: a block takes each, whose elements are not neighbours'
SMALL = 'parameters of too few elements for packs to None=pin=None the GPU busy'
COPIES = 'a copy with another layout: of one of the two neighbours lie apart'
WINDOW = 'of the channels around one the first may be any'
BRANCHES = 'the seven sums of two branches leave registers for four neighbours; bits are bytes'
BYTES = 'the positions of maxima are bytes, of which 8 neighbours have 8'
IMAGE = ('images of three channels get five of zeros: pixels begin at any multiple of 4 bytes; '
         'data layers with images deliver them so')
EXCEPTIONS = {
    'lenet': {'pool1(_1|_backward)?': '20 channels: no more than 8 bytes are aligned',
              'pool2(_1|_backward)?': '50 channels: no more than 4 bytes are aligned',
              'relu1_backward': SMALL, 'update_1': SMALL, 'conv[12]_backward': FEW_SUMS,
              'conv1_conv2(_1|_backward)?': COPIES},
    'cifar10_quick': {'cifar_pixels': 'crops of images begin at any byte',
                      'pool1_(relu1|backward)': BYTES,
                      'pool2_relu2_backward|relu1_backward': FEW_SUMS,
                      'update_1': SMALL, 'conv1_conv2.*': COPIES},
    'alexnet': {'(norm1|pool1)(_.*)?': WINDOW, 'conv1_relu_conv1_conv2.*': IMAGE},
    'googlenet': {'(conv2_norm2|pool2_3x3_s2)(_.*)?': WINDOW, 'conv1_7x7_s2_conv2_3x3_reduce.*': IMAGE},
    'squeezenet': {'conv1_fire2_squeeze1x1.*': IMAGE},
    'resnet50': {r'relu_res\da_scale_\w+_branch2c_\w+_branch1_\w+_backward': BRANCHES},
}


def report_of(brewc, nets, net, folder):
    sys.path.insert(0, str(nets.parent / 'gpu'))
    from timed_nets import NETS, shape_flags
    solver = folder / (net + '.prototxt')
    text = 'net: "%s"\nbase_lr: 0.01\nmomentum: 0.9\nlr_policy: "fixed"\n' % (
        nets / (net + '.prototxt'))
    if re.search(r'phase:\s*TEST', (nets / (net + '.prototxt')).read_text()):
        text += 'test_iter: 1\ntest_interval: 1\n'
    solver.write_text(text)
    done = subprocess.run(
        [brewc, str(solver), '--target=cuda', '--gpu-arch=sm_90', '--precision=bf16',
         '--report=json'] + shape_flags(net, NETS[net]), capture_output=True, text=True)
    if done.returncode:
        sys.exit('%s: %s' % (net, done.stderr))
    return json.loads(done.stdout)


def narrow_bytes(access_bytes):
    return sum(count for width, count in access_bytes.items() if int(width) < WIDEST)


def check(net, report):
    """What is wrong with a net's kernels, as lines."""
    moved = {}
    for program in ('forward_backward', 'update'):
        entry = report['programs'][program]
        for width, count in entry['access_bytes'].items():
            moved[int(width)] = moved.get(int(width), 0) + count
        generated = sum(entry['access_bytes'].values())
        if not 0 < generated <= entry['bytes']:
            yield '%s: accesses move %d bytes of %d' % (net, generated, entry['bytes'])
    total = sum(moved.values())
    share = 100 * moved.get(WIDEST, 0) / total
    print('%s: %.0f MB;' % (net, total / 1e6), ', '.join(
        '%d bytes %.1f%%' % (width, 100 * moved[width] / total) for width in sorted(moved)))
    if share < SHARES[net]:
        yield '%s: %.1f%% of the bytes move %d at a time, not %d%%' % (
            net, share, WIDEST, SHARES[net])
    for kernel in report['kernels']:
        if sum(kernel['access_bytes'].values()) != kernel['bytes']:
            yield '%s: the accesses of %s do not add up' % (net, kernel['name'])
        narrow = narrow_bytes(kernel['access_bytes'])
        if narrow > NARROW * total and not any(
                re.fullmatch(name, kernel['name']) for name in EXCEPTIONS.get(net, {})):
            yield '%s: %s moves %.1f%% of the bytes in accesses of %s' % (
                net, kernel['name'], 100 * narrow / total, kernel['access_bytes'])


def main():
    brewc, nets = sys.argv[1], Path(sys.argv[2])
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        for net in SHARES:
            if len(sys.argv) > 3:
                report = json.loads((Path(sys.argv[3]) / (net + '.json')).read_text())
            else:
                report = report_of(brewc, nets, net, Path(folder))
            problems += check(net, report)
    for problem in problems:
        print('FAIL ' + problem)
    sys.exit(bool(problems))


if __name__ == '__main__':
    main()
