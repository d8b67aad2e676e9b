"""Writes the files that cases of cases_more.py read."""
import os
import subprocess
import sys

import h5py
import numpy as np
from caffe import io

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'common'))
from pngs import png  # noqa: E402

COUNT = 6  # number of records; the last of the four batches of 2 begins again


def write(folder, brew_data):
    """Writes the files into `folder`. `brew_data` is the path of the tool."""
    random = np.random.RandomState(3)

    def path(name):
        return os.path.join(folder, name)

    matrix = np.float32([[1, .2, 0], [.1, 1, .3], [0, .4, 1]]).reshape(1, 1, 3, 3)
    with open(path('infogain.binaryproto'), 'wb') as file:
        file.write(io.array_to_blobproto(matrix).SerializeToString())
    with open(path('images.txt'), 'w') as names:
        for i in range(COUNT):
            with open(path('%d.png' % i), 'wb') as file:
                file.write(png(random.randint(0, 256, (5, 4, 3)).astype(np.uint8)))
            names.write('%s %d\n' % (path('%d.png' % i), i % 3))
    with open(path('labels.txt'), 'w') as names:
        for i in range(COUNT):
            names.write('%s %d 0.5 -%d\n' % (path('%d.png' % i), i, i))
    with open(path('pairs.txt'), 'w') as names:
        for i in range(COUNT):
            names.write('%s %s\n' % (path('%d.png' % i), path('%d.png' % (COUNT - 1 - i))))
    os.mkdir(path('frames'))
    for i in range(COUNT):  # the contents of a file determine its format, not its name
        os.symlink(path('%d.png' % i), path('frames/%06d.jpg' % i))
    with open(path('clips.txt'), 'w') as clips:
        for i in range(COUNT // 2):
            clips.write('%s %d %d\n' % (path('frames'), i, i % 3))
    subprocess.run([brew_data, 'convert_imageset', '/', path('images.txt'), path('images_lmdb')], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with h5py.File(path('data.h5'), 'w') as file:
        file['x'] = random.uniform(-1, 1, (COUNT, 3, 2)).astype(np.float32)
        file['label'] = np.arange(COUNT, dtype=np.float32) % 3
    with open(path('text.txt'), 'w', encoding='utf-8') as file:
        file.write('Größe 12')
    with open(path('starts.txt'), 'w') as file:
        file.write(''.join('idx = %d\n' % start for start in (3, 0, 1)))
    with open(path('h5.txt'), 'w') as file:
        file.write(path('data.h5') + '\n')
