"""Tests ranks on two machines whose network delays and drops packets. The machines are two
network namespaces; a program in a third namespace relays the packets.

    network.py --brewc BREWC --brew-run BREW_RUN CASE

Like ranks.py; cases are the methods of Network below. If namespaces are not permitted, a case
is skipped.
"""
import atexit
import heapq
import os
import random
import select
import shutil
import signal
import socket
import subprocess
import sys
import time

from ranks import SKIPPED, Ranks, check, main

# The delay in one direction in seconds, and the percentage of lost packets.
DELAY, LOSS = 0.02, 1

# Constants of packet(7).
SOL_PACKET, PACKET_VNET_HDR, PACKET_OUTGOING, ALL_PROTOCOLS = 263, 15, 4, 3


def relay(first, second):
    """Relays packets between two network interfaces until SIGTERM. Then prints the number of lost
    packets and the number of all packets."""
    sockets = []
    for name in first, second:
        interface = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ALL_PROTOCOLS))
        # Packets keep the header with pending offload work, such as the checksum.
        interface.setsockopt(SOL_PACKET, PACKET_VNET_HDR, 1)
        interface.bind((name, ALL_PROTOCOLS))
        sockets.append(interface)
    received = lost = 0

    def finish(*_):
        print(lost, received, flush=True)
        os._exit(0)

    signal.signal(signal.SIGTERM, finish)
    # `delayed` is a heap of (time, number, whether to the second interface, packet).
    generator, delayed, number = random.Random(1), [], 0
    print("ready", flush=True)
    while True:
        wait = max(0, delayed[0][0] - time.monotonic()) if delayed else None
        for source in select.select(sockets, [], [], wait)[0]:
            packet, sender = source.recvfrom(1 << 17)
            if sender[2] == PACKET_OUTGOING:
                continue
            received += 1
            if generator.random() * 100 < LOSS:
                lost += 1
                continue
            number += 1
            heapq.heappush(delayed, (time.monotonic() + DELAY, number, source is sockets[0], packet))
        while delayed and delayed[0][0] <= time.monotonic():
            _, _, to_second, packet = heapq.heappop(delayed)
            try:
                sockets[to_second].send(packet)
            except OSError:
                lost += 1


class Network(Ranks):
    def run(self, *command, **options):
        return subprocess.run(command, check=True, stderr=subprocess.PIPE, text=True, **options)

    def create_machine(self, name):
        """Creates a network namespace, which is deleted at the end of this program."""
        self.run("ip", "netns", "add", name)
        atexit.register(subprocess.run, ["ip", "netns", "delete", name])
        self.run("ip", "-n", name, "link", "set", "lo", "up")
        return name

    def connect(self):
        """Creates two machines, 10.77.0.1 and 10.77.0.2, and the relay between them. Without the
        permission to create machines, skips the case."""
        if os.geteuid() != 0 or not shutil.which("ip"):
            print("skipped: network namespaces need root, and iproute2's `ip`")
            sys.exit(SKIPPED)
        names = ["brew-%s-%d" % (part, os.getpid()) for part in ("a", "b", "net")]
        try:
            self.machines = [self.create_machine(name) for name in names[:2]]
            relay_machine = self.create_machine(names[2])
            for number, machine in enumerate(self.machines):
                self.run("ip", "link", "add", "eth0", "netns", machine, "type", "veth",
                         "peer", "name", "to%d" % number, "netns", relay_machine)
                self.run("ip", "-n", machine, "address", "add", "10.77.0.%d/24" % (number + 1),
                         "dev", "eth0")
                self.run("ip", "-n", machine, "link", "set", "eth0", "up")
                self.run("ip", "-n", relay_machine, "link", "set", "to%d" % number, "up")
        except subprocess.CalledProcessError as failure:
            print("skipped: this machine permits no network namespaces: %s" % failure.stderr)
            sys.exit(SKIPPED)
        self.relay = subprocess.Popen(["ip", "netns", "exec", relay_machine, sys.executable, "-B", __file__,
                                       "--relay", "to0", "to1"], stdout=subprocess.PIPE, text=True)
        atexit.register(self.relay.kill)
        check(self.relay.stdout.readline() == "ready\n", "the relay does not start")

    def on_machine(self, number):
        """Returns a prefix that makes a command run on a machine with its own host name."""
        return ["ip", "netns", "exec", self.machines[number], "unshare", "--uts", "sh", "-c",
                'hostname "$0" && exec "$@"', "brew-machine-%d" % number]

    def launcher(self):
        """Returns the command for mpirun on the first machine. A script in place of ssh starts the
        processes on the second machine."""
        agent = self.path("agent")
        with open(agent, "w") as file:
            # The arguments of the agent are options, a host and a command line.
            file.write("#!/bin/sh\nwhile [ \"$1\" != 10.77.0.2 ]; do shift; done\nshift\nexec %s sh -c \"$*\"\n"
                       % " ".join("'%s'" % word for word in self.on_machine(1)))
        os.chmod(agent, 0o755)
        return [*self.on_machine(0), "mpirun", "--quiet", "--allow-run-as-root", "-n", "2",
                "--host", "10.77.0.1:1,10.77.0.2:1", "--mca", "plm_rsh_agent", agent,
                "--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", "eth0",
                "--mca", "oob_tcp_if_include", "eth0"]

    def lossy(self):
        """Delayed or lost packets cost time, but do not change the weights."""
        many = self.compile("many", flags=["--distributed", "--bucket-mb", "0.0005"])
        self.train(many, "--ranks", "2", "--deterministic")
        expected = self.weights(many)
        os.remove(self.path("many_iter_7.caffemodel"))
        self.connect()
        log = self.train(None, seconds=200, command=[
            *self.launcher(), *self.command(many, "--deterministic")])
        check(self.weights(many) == expected, "the weights differ from training on one machine")
        check("Training on 2 ranks" in log, log)
        self.relay.send_signal(signal.SIGTERM)
        lost, received = map(int, self.relay.communicate(timeout=30)[0].split())
        check(0 < lost < received / 10, "%d of %d packets were lost" % (lost, received))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--relay"]:
        relay(*sys.argv[2:])
    else:
        main(Network)
