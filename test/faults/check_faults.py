#!/usr/bin/python3
"""Trains with full and failing disks and with damaged files. Each time, brew-run prints one
error or skips the damaged record, leaves no incomplete file, and does not change older
snapshots; with --resume, training ends with the weights of an undisturbed run.
"""
import errno
import os
import random
import subprocess
import sys

import h5py
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '../values/common'))
import checker  # noqa: E402
import pngs  # noqa: E402

NET = '''
layer { name: "in" type: "%s" top: "data" top: "label" %s }
layer { name: "ip" type: "InnerProduct" bottom: "data" top: "ip"
  inner_product_param { num_output: 3 weight_filler { type: "gaussian" std: 0.01 } } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "ip" bottom: "label" top: "loss" }
'''
SOURCES = {
    'lmdb': ('Data', 'data_param { source: "db.lmdb" batch_size: 3 backend: LMDB }'),
    'leveldb': ('Data', 'data_param { source: "db.leveldb" batch_size: 3 backend: LEVELDB }'),
    'tables': ('Data', 'data_param { source: "big.leveldb" batch_size: 8 backend: LEVELDB }'),
    'images': ('ImageData', 'image_data_param { source: "list.txt" batch_size: 3 shuffle: true '
               'root_folder: "images/" }'),
    'rows': ('HDF5Data', 'hdf5_data_param { source: "files.txt" batch_size: 3 }'),
}


class Faults(checker.Checker):
    def __init__(self, options, folder):
        super().__init__(options, folder)
        self.random = random.Random(4)
        brew_data = os.path.join(os.path.dirname(os.path.abspath(options.brew_run)), 'brew-data')
        rng = np.random.default_rng(5)
        os.mkdir(self.path('images'))
        for number in range(7):
            with open(self.path('images/%d.png' % number), 'wb') as file:
                file.write(pngs.png(rng.integers(0, 256, (6, 5, 3), dtype=np.uint8)))
        self.write('list.txt', ''.join('%d.png %d\n' % (i, i % 3) for i in range(7)))
        for backend in 'lmdb', 'leveldb':
            self.run(brew_data, 'imageset', 'images/', 'list.txt', 'db.' + backend,
                     '--backend', backend)
        # LevelDB writes tables only for more than 4 MB.
        with open(self.path('big.png'), 'wb') as file:
            file.write(pngs.png(rng.integers(0, 256, (180, 180, 3), dtype=np.uint8)))
        self.write('big.txt', ''.join('big.png %d\n' % (i % 3) for i in range(56)))
        self.run(brew_data, 'imageset', './', 'big.txt', 'big.leveldb', '--backend', 'leveldb')
        with h5py.File(self.path('rows.h5'), 'w') as file:
            file['data'] = rng.standard_normal((10, 3, 6, 5)).astype(np.float32)
            file['label'] = rng.integers(0, 3, 10).astype(np.float32)
        self.write('files.txt', 'rows.h5\n')
        self.undisturbed_weights = {}
        for name, source in SOURCES.items():
            snapshot_formats = ('BINARYPROTO', 'HDF5') if name == 'images' else ('BINARYPROTO',)
            for snapshot_format in snapshot_formats:
                self.write('net.prototxt', NET % source)
                self.write('solver.prototxt', 'net: "net.prototxt" base_lr: 0.1 lr_policy: '
                           '"fixed" momentum: 0.9 max_iter: 8 snapshot: 2 random_seed: 7 '
                           'snapshot_prefix: "snap" test_iter: 1 test_interval: 4 '
                           'snapshot_format: ' + snapshot_format)
                plan = name + ('.h5' if snapshot_format == 'HDF5' else '')
                self.run(self.options.brewc, 'solver.prototxt', '-o', plan + '.plan',
                         *self.options.brewc_flags.split())
                done = self.train(plan)
                if done.returncode:
                    sys.exit('training on %s: %s' % (name, done.stderr))
                self.undisturbed_weights[plan] = self.last_weights(plan)
                self.remove_snapshots()

    def train(self, plan, *flags, **fault):
        """Runs `brew-run train`. `fault`: call, path, after and errno of FailingIo.c."""
        environment = dict(os.environ)
        if fault:
            environment['LD_PRELOAD'] = os.environ['BREW_FAILING_IO']
            for name, value in fault.items():
                environment['BREW_FAULT_' + name.upper()] = str(value)
        return subprocess.run([self.options.brew_run, 'train', plan + '.plan', *flags],
                              cwd=self.folder, env=environment, capture_output=True,
                              text=True, errors='replace', timeout=120)

    def snapshots(self):
        return sorted(name for name in os.listdir(self.folder) if name.startswith('snap_'))

    def remove_snapshots(self):
        for name in self.snapshots():
            os.remove(self.path(name))

    def read_file(self, name):
        with open(self.path(name), 'rb') as file:
            return file.read()

    def last_weights(self, plan):
        return self.read_file('snap_iter_8.caffemodel' + ('.h5' if plan.endswith('.h5') else ''))

    def expect_error(self, description, done, status, *parts):
        lines = [line for line in done.stderr.splitlines() if 'error:' in line]
        self.expect(done.returncode == status and len(lines) == 1 and
                    all(part in lines[0] for part in parts),
                    '%s: status %d, %s' % (description, done.returncode,
                                           lines or done.stderr[-500:]))

    def expect_resumed(self, description, plan, iteration):
        """Expects that --resume continues at `iteration` and ends with undisturbed weights."""
        done = self.train(plan, '--resume')
        resume_line = ('Resuming from snap_iter_%d.' % iteration if iteration else
                       'No snapshot of prefix')
        self.expect(done.returncode == 0 and resume_line in done.stderr,
                    '%s: resumed with status %d: %s' % (description, done.returncode,
                                                        done.stderr[-1500:]))
        self.expect(self.last_weights(plan) == self.undisturbed_weights[plan],
                    description + ': the weights differ')
        self.remove_snapshots()

    def check_writes(self):
        # Each snapshot file is written by a single call, so the third snapshot fails (iteration 6).
        for plan, suffix in ('images', ''), ('images.h5', '.h5'):
            for call, kind, code in (('write', 'caffemodel', errno.ENOSPC),
                                     ('write', 'solverstate', errno.ENOSPC),
                                     ('fsync', 'caffemodel', errno.EIO),
                                     ('rename', 'solverstate', errno.EDQUOT)):
                description = '%s of %s in %s fails' % (call, kind, plan)
                done = self.train(plan, call=call, path='.%s%s' % (kind, suffix), after=2,
                                  errno=code)
                self.expect_error(description, done, 3, "cannot write 'snap_iter_6.%s%s': %s" % (
                    kind, suffix, os.strerror(code)))
                left = ['snap_iter_%d.%s%s' % (i, k, suffix) for i in (2, 4)
                        for k in ('caffemodel', 'solverstate')]
                if kind == 'solverstate':
                    left.append('snap_iter_6.caffemodel' + suffix)
                self.expect(self.snapshots() == left,
                            '%s: left %s' % (description, self.snapshots()))
                self.expect_resumed(description, plan, 4)
        done = self.train('images', '--snapshot-best', 'test.loss', call='write',
                          path='snap_best', errno=errno.ENOSPC)
        self.expect_error('the best', done, 3, 'snap_best_test.loss.caffemodel', 'No space left')
        self.remove_snapshots()

    def check_full_disk(self):
        """Trains on a disk of 12 KB, if this machine permits the mount."""
        os.mkdir(self.path('disk'))
        steps = ('mount -t tmpfs -o size=12k none disk || exit 77; "$0" train images.plan '
                 '--snapshot-prefix disk/snap --snapshot-interval 1; echo status $?; ls disk; '
                 'mount -o remount,size=1m disk; "$0" train images.plan --snapshot-prefix '
                 'disk/snap --resume; echo status $?; cp disk/snap_iter_8.caffemodel full')
        done = subprocess.run(['unshare', '-Urm', 'sh', '-c', steps, self.options.brew_run],
                              cwd=self.folder, capture_output=True, text=True)
        if 'status' not in done.stdout:
            raise checker.Skipped('no disk can be mounted: ' + done.stderr.strip()[-200:])
        output = done.stdout.split()
        self.expect(output[1] == '3' and output[-1] == '0' and
                    'No space left on device' in done.stderr,
                    'a full disk: %s %s' % (output, done.stderr[-1000:]))
        self.expect(not any('.tmp-' in name for name in output),
                    'temporary files are left: %s' % output)
        self.expect(self.read_file('full') == self.undisturbed_weights['images'],
                    'a full disk: the weights differ')

    def check_reads(self):
        for plan, path in (('lmdb', 'db.lmdb/data.mdb'), ('leveldb', 'db.leveldb/0'),
                           ('tables', '.ldb'), ('images', 'images/3.png'), ('images', 'list.txt'),
                           ('rows', 'rows.h5')):
            for after in (0, 1) if plan != 'tables' else (0, 10, 60):
                done = self.train(plan, call='read', path=path, after=after, errno=errno.EIO)
                if done.returncode == 0:
                    self.expect(after, 'reading %s: no error' % path)  # no second call happened
                else:
                    self.expect_error('reading ' + path, done, done.returncode,
                                      path.split('/')[0].split('.')[0],
                                      *['Input/output error'] * (plan == 'tables'))
                    self.expect(done.returncode in (1, 3), 'reading %s: status %d' % (
                        path, done.returncode))
                self.remove_snapshots()
        done = self.train('images', '--skip-bad-records', call='read', path='images/3.png',
                          errno=errno.EIO)
        self.expect(done.returncode == 0 and "damaged records of 'in' skipped" in done.stderr,
                    'an image that cannot be read: ' + done.stderr[-500:])
        self.remove_snapshots()
        for kind in 'caffemodel', 'solverstate':
            self.train('images')
            done = self.train('images', '--snapshot', 'snap_iter_6.solverstate', call='read',
                              path='snap_iter_6.' + kind, errno=errno.EIO)
            self.expect_error('reading a ' + kind, done, 3, 'snap_iter_6.' + kind,
                              'Input/output error')
            done = self.train('images', '--resume', '--max-iter', '6', call='read',
                              path='snap_iter_8.' + kind, errno=errno.EIO)
            self.expect(done.returncode == 0 and 'Resuming from snap_iter_6' in done.stderr and
                        done.stderr.count('Snapshot skipped') == 1,
                        'a %s that cannot be read: %s' % (kind, done.stderr[-500:]))
            self.remove_snapshots()

    def damaged_versions(self, content, count):
        """Yields damaged versions of a file: truncated, and with changed bits."""
        for _ in range(count):
            yield content[:self.random.randrange(len(content))]
            changed = bytearray(content)
            changed[self.random.randrange(len(changed))] ^= 1 << self.random.randrange(8)
            yield bytes(changed)

    def check_damage(self):
        files = [('lmdb', 'db.lmdb/data.mdb'), ('images', 'images/2.png'), ('rows', 'rows.h5'),
                 ('images', 'images.plan'), ('images', 'list.txt')]
        files += [('leveldb', 'db.leveldb/' + name) for name in os.listdir(
            self.path('db.leveldb')) if name not in ('LOCK', 'LOG')]
        for plan, name in files:
            good = self.read_file(name)
            if not good:
                continue
            for bad in self.damaged_versions(good, 4):
                with open(self.path(name), 'wb') as file:
                    file.write(bad)
                for flags in ((), ('--skip-bad-records',)) if name.endswith('.png') else ((),):
                    done = self.train(plan, '--max-iter', '3', *flags)
                    if done.returncode:
                        self.expect_error('damaged ' + name, done, done.returncode)
                        self.expect(done.returncode in (1, 3) and not flags,
                                    'damaged %s: status %d: %s' % (name, done.returncode,
                                                                   done.stderr[-300:]))
            with open(self.path(name), 'wb') as file:
                file.write(good)
        self.remove_snapshots()

    def check_snapshots(self):
        for plan, suffix in ('images', ''), ('images.h5', '.h5'):
            for kind in 'caffemodel', 'solverstate':
                name = 'snap_iter_6.%s%s' % (kind, suffix)
                self.train(plan)
                good = self.read_file(name)
                for bad in self.damaged_versions(good, 2):
                    for iteration in 7, 8:
                        for later_file in self.snapshots():
                            if later_file.startswith('snap_iter_%d.' % iteration):
                                os.remove(self.path(later_file))
                    with open(self.path(name), 'wb') as file:
                        file.write(bad)
                    done = self.train(plan, '--snapshot', 'snap_iter_6.solverstate' + suffix)
                    has_same_weights = (done.returncode == 0 and
                                        self.last_weights(plan) == self.undisturbed_weights[plan])
                    # HDF5 files contain unused bytes; damage to all other bytes is detected.
                    if not (suffix and has_same_weights and kind == 'solverstate'):
                        self.expect_error('a damaged ' + name, done, 1, 'snap_iter_6.')
                    if done.returncode:
                        done = self.train(plan, '--resume')
                        self.expect(done.returncode == 0 and
                                    done.stderr.count('Snapshot skipped') == 1 and
                                    'Resuming from snap_iter_4.' in done.stderr,
                                    'a damaged %s: resumed with status %d: %s' % (
                                        name, done.returncode, done.stderr[-1500:]))
                        self.expect(self.last_weights(plan) == self.undisturbed_weights[plan],
                                    'a damaged %s: the weights differ' % name)
                self.remove_snapshots()


checker.main(Faults, __doc__, 'check_writes', 'check_full_disk', 'check_reads', 'check_damage',
             'check_snapshots')
