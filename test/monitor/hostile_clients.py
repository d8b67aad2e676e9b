#!/usr/bin/python3
"""Trains LeNet alone and beside hostile clients of the monitor, which send slow, endless and
damaged requests and never read. Checks that the weights are the same, that memory grows little,
that snapshots are written under a low limit of open files, and that the run ends.

usage: hostile_clients.py BREWC BREW_RUN [--clients N] [--seconds S] [--max-slowdown PERCENT]
"""
import argparse
import os
import pathlib
import random
import re
import resource
import socket
import subprocess
import sys
import tempfile
import threading
import time

NET = '''
layer { name: "data" type: "DummyData" top: "data" top: "label" dummy_data_param {
  shape { dim: 16 dim: 1 dim: 28 dim: 28 } shape { dim: 16 }
  data_filler { type: "uniform" min: 0 max: 1 } data_filler { type: "constant" value: 3 } } }
layer { name: "conv1" type: "Convolution" bottom: "data" top: "conv1" convolution_param {
  num_output: 20 kernel_size: 5 weight_filler { type: "xavier" } } }
layer { name: "pool1" type: "Pooling" bottom: "conv1" top: "pool1" pooling_param {
  pool: MAX kernel_size: 2 stride: 2 } }
layer { name: "conv2" type: "Convolution" bottom: "pool1" top: "conv2" convolution_param {
  num_output: 50 kernel_size: 5 weight_filler { type: "xavier" } } }
layer { name: "pool2" type: "Pooling" bottom: "conv2" top: "pool2" pooling_param {
  pool: MAX kernel_size: 2 stride: 2 } }
layer { name: "ip1" type: "InnerProduct" bottom: "pool2" top: "ip1" inner_product_param {
  num_output: 500 weight_filler { type: "xavier" } } }
layer { name: "relu1" type: "ReLU" bottom: "ip1" top: "ip1" }
layer { name: "ip2" type: "InnerProduct" bottom: "ip1" top: "ip2" inner_product_param {
  num_output: 10 weight_filler { type: "xavier" } } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "ip2" bottom: "label" top: "loss" }
'''
SOLVER = '''net: "net.prototxt" base_lr: 0.001 momentum: 0.9 lr_policy: "fixed" random_seed: 1
max_iter: 100 snapshot: %d snapshot_prefix: "%s"
'''
MAX_OPEN_FILES = 128
SCRIPT = os.path.abspath(__file__)
# Threads of the server and buffers of its requests.
MAX_GROWTH_KIB = 48 << 10
CALIBRATION_ITERATIONS = 200
ATTEMPTS = 3
CONNECTIONS = 'connections'  # file with one byte for each connection of the clients


class Client(threading.Thread):
    """Attacks a port until `stop` is set. Appends a byte to a file for each connection."""

    def __init__(self, port, kind, stop, file):
        super().__init__(daemon=True)
        self.port, self.kind, self.stop, self.file = port, kind, stop, file
        self.random = random.Random(kind)

    def run(self):
        while not self.stop.is_set():
            try:
                with socket.create_connection(('127.0.0.1', self.port), 5) as connection:
                    connection.settimeout(5)
                    os.write(self.file, b'.')
                    self.attack(connection)
            except OSError:
                self.stop.wait(.05)

    def attack(self, connection):
        post = b'POST /api/set HTTP/1.1\r\nHost: x\r\n'
        get = b'GET / HTTP/1.1\r\nHost: x\r\n'
        kind = self.kind % 8
        if kind == 0:  # slow headers
            for byte in get * 100:
                connection.send(bytes([byte]))
                if self.stop.wait(.2):
                    return
        elif kind == 1:  # an endless chunked body
            connection.sendall(post + b'Transfer-Encoding: chunked\r\n\r\n')
            while not self.stop.is_set():
                connection.sendall(b'4000\r\n' + b'x' * 0x4000 + b'\r\n')
        elif kind == 2:  # an endless body without a length
            connection.sendall(post + b'\r\n')
            while not self.stop.is_set():
                connection.sendall(b'x' * 0x4000)
        elif kind == 3:  # endless headers
            connection.sendall(get)
            while not self.stop.is_set():
                connection.sendall(b'a: b\r\n' * 1000)
        elif kind == 4:  # many ranges, and no reading
            ranges = b'Range: bytes=0-' + b',0-99999' * 900
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.sendall((get + ranges + b'\r\n\r\n') * 5)
            self.stop.wait(3)
        elif kind == 5:  # the same, after more bytes than the server accepts
            ranges = b'Range: ' + b'a' * 17000 + b'\r\nRange: bytes=0-' + b',0-99999' * 900
            connection.sendall((get + ranges + b'\r\n\r\n') * 5)
            self.stop.wait(3)
        elif kind == 6:  # half closed
            connection.sendall(get)
            connection.shutdown(socket.SHUT_WR)
            self.stop.wait(3)
        else:  # random bytes
            connection.sendall(self.random.randbytes(2000))
            connection.recv(1000)


def peak_memory(process):
    """Returns the highest resident memory of a running process so far, in KiB; 0 after its end."""
    try:
        status = pathlib.Path('/proc/%d/status' % process.pid).read_text()
    except OSError:
        return 0
    match = re.search(r'VmHWM:\s*(\d+)', status)
    return int(match.group(1)) if match else 0


def limit_open_files():
    resource.setrlimit(resource.RLIMIT_NOFILE, (MAX_OPEN_FILES, MAX_OPEN_FILES))


def train(options, name, iterations, clients):
    """Trains. Returns the seconds and the peak of resident memory in KiB."""
    command = [options.brew_run, 'train', name + '.plan', '--threads', '1', '--max-iter',
               str(iterations), '--monitor=:0']
    attackers = None
    peak = 0
    with open(name + '.log', 'w+') as log:
        begin = time.monotonic()
        process = subprocess.Popen(command, stderr=log, preexec_fn=limit_open_files)
        try:
            while process.poll() is None:
                text = pathlib.Path(log.name).read_text()
                page = re.search(r'Monitor: http://127\.0\.0\.1:(\d+)', text)
                if page and clients and not attackers:
                    attackers = subprocess.Popen(
                        [sys.executable, '-B', SCRIPT, '--attack', page.group(1), str(clients)],
                        preexec_fn=lambda: os.nice(19))  # leave the cores to the run
                peak = max(peak, peak_memory(process))
                time.sleep(.05)
                if attackers and attackers.poll() is not None:
                    sys.exit('the clients ended with status %d' % attackers.returncode)
                if time.monotonic() - begin > 10 * options.seconds + 60:
                    sys.exit('%s: the run does not end:\n%s' % (name, text[-2000:]))
        finally:
            process.kill()
            if attackers:
                attackers.kill()
                attackers.wait()
        seconds = time.monotonic() - begin
        if process.returncode:
            sys.exit('%s: status %d:\n%s' % (name, process.returncode,
                                             pathlib.Path(log.name).read_text()[-2000:]))
    if clients and not attackers:
        sys.exit('the run ended before the clients began')
    return seconds, peak


def attack(port, clients):
    """Attacks a port with that many clients, until this process is killed."""
    stop = threading.Event()
    file = os.open(CONNECTIONS, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    for kind in range(clients):
        Client(port, kind, stop, file).start()
    stop.wait()


def main():
    if sys.argv[1:2] == ['--attack']:
        return attack(int(sys.argv[2]), int(sys.argv[3]))
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    parser.add_argument('brewc')
    parser.add_argument('brew_run')
    parser.add_argument('--clients', type=int, default=42)
    parser.add_argument('--seconds', type=float, default=8, help='of one run, about')
    parser.add_argument('--max-slowdown', type=float, help='in percent; default: not checked')
    options = parser.parse_args()
    options.brewc, options.brew_run = map(os.path.abspath, (options.brewc, options.brew_run))
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        pathlib.Path('net.prototxt').write_text(NET)
        for name in 'alone', 'attacked':
            pathlib.Path('solver.prototxt').write_text(SOLVER % (50, name))
            subprocess.run([options.brewc, 'solver.prototxt', '-o', name + '.plan'], check=True)
        seconds, _ = train(options, 'alone', CALIBRATION_ITERATIONS, 0)
        iterations = max(CALIBRATION_ITERATIONS,
                         int(CALIBRATION_ITERATIONS * options.seconds / seconds))
        for _ in range(ATTEMPTS):
            for old in [*pathlib.Path().glob('*_iter_*'), *pathlib.Path().glob(CONNECTIONS)]:
                old.unlink()
            alone, memory_alone = train(options, 'alone', iterations, 0)
            attacked, memory = train(options, 'attacked', iterations, options.clients)
            connections = os.path.getsize(CONNECTIONS)
            if connections >= options.clients:
                break
            iterations *= 2  # on a busy machine the clients start late
        weights = [pathlib.Path('%s_iter_%d.caffemodel' % (name, iterations)).read_bytes()
                   for name in ('alone', 'attacked')]
        slowdown = 100 * (attacked / alone - 1)
        print('%d iterations: %.1f s and %d KiB alone, %.1f s (%+.1f %%) and %d KiB beside %d '
              'clients with %d connections' % (iterations, alone, memory_alone, attacked, slowdown,
                                               memory, options.clients, connections))
        if connections < options.clients:
            sys.exit('the clients made only %d connections' % connections)
        if weights[0] != weights[1]:
            sys.exit('the weights differ')
        if memory > memory_alone + MAX_GROWTH_KIB:
            sys.exit('memory grew')
        if options.max_slowdown is not None and slowdown > options.max_slowdown:
            sys.exit('the run became slower')
        os.chdir('/')


main()
