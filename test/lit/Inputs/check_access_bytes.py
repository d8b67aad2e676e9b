"""Checks the width of memory accesses in the published nets' GPU kernels.

usage: check_access_bytes.py BREWC NETS [REPORTS]

Compiles each net of benchmarks/nets for training in bf16, with the batch of the benchmarks, up
to the report, and checks the share of the bytes that kernels move in accesses of 16 bytes. A
kernel that moves more than a hundredth of its net's bytes in narrower accesses must be listed
in EXCEPTIONS with a reason. With REPORTS, a folder with a report NET.json of each net, nothing
is compiled.
"""
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

WIDEST = 16
# Minimum percentage of bytes moved in 16-byte accesses. Convolutions write concatenated blobs
# in place, so there are no copies, which would consist of 16-byte accesses.
SHARES = {'lenet': 55, 'cifar10_quick': 86, 'alexnet': 92, 'googlenet': 89, 'vgg16': 95,
          'resnet50': 93, 'squeezenet': 94, 'mobilenet': 99}
# Fraction of its net's bytes that a kernel may move in narrower accesses.
NARROW = 0.01
FEW_CHANNELS = 'few channels to reduce: a block reduces one channel, whose elements are not adjacent'
SMALL = 'too few elements of parameters: vector accesses would not keep the GPU busy'
COPIES = 'a copy to another layout: in one of the layouts neighbours are not adjacent'
WINDOW = 'a window of channels begins at any channel'
BRANCHES = ('the seven reductions of two branches leave registers for four elements; bit masks '
            'are read as bytes')
BYTES = 'the positions of maxima are bytes: 8 elements have 8 bytes'
IMAGE = ('images of three channels are padded with five zero channels: source pixels begin at any '
         'multiple of 4 bytes, as data layers write them')
EXCEPTIONS = {
    'lenet': {'pool1(_1|_backward)?': '20 channels: no more than 8 bytes are aligned',
              'pool2(_1|_backward)?': '50 channels: no more than 4 bytes are aligned',
              'relu1_backward': SMALL, 'update_1': SMALL, 'conv[12]_backward': FEW_CHANNELS,
              'conv1_conv2(_1|_backward)?': COPIES},
    'cifar10_quick': {'cifar_pixels': 'crops of images begin at any byte',
                      'pool1_(relu1|backward)': BYTES,
                      'pool2_relu2_backward|relu1_backward': FEW_CHANNELS,
                      'update_1': SMALL, 'conv1_conv2.*': COPIES},
    'alexnet': {'(norm1|pool1)(_.*)?': WINDOW, 'conv1_relu_conv1_conv2.*': IMAGE},
    'googlenet': {'(conv2_norm2|pool2_3x3_s2)(_.*)?': WINDOW, 'conv1_7x7_s2(_conv2_3x3_reduce.*)?': IMAGE},
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
    """Yields a line for each problem of a net's kernels."""
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
        yield '%s: %.1f%% of the bytes move in accesses of %d bytes, expected at least %d%%' % (
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
