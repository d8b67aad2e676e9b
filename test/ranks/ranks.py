"""Tests training on several ranks: the weights, and the end of runs.

    ranks.py --brewc BREWC --brew-run BREW_RUN CASE

Cases are methods of Ranks below. In a case, `many` is a plan for several ranks, and `one` is the
equivalent plan for one rank. Without mpirun, or without the MPI plugin of the runtime, a case is
skipped (exit status 77).
"""
import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import h5py
import numpy

RECORDS = 48
BATCH = 4
SKIPPED = 77

# The net has weights that two layers share, two biases with equal gradients, and a frozen layer.
NET = """
name: "ranks"
layer { name: "data" type: "HDF5Data" top: "data" top: "label"
  hdf5_data_param { source: "LIST" batch_size: %d } }
layer { name: "conv" type: "Convolution" bottom: "data" top: "conv"
  convolution_param { num_output: 6 kernel_size: 3 weight_filler { type: "xavier" } } }
layer { name: "relu" type: "ReLU" bottom: "conv" top: "conv" }
layer { name: "ip1" type: "InnerProduct" bottom: "conv" top: "ip1"
  inner_product_param { num_output: 16 weight_filler { type: "xavier" } } }
layer { name: "relu1" type: "ReLU" bottom: "ip1" top: "ip1" }
layer { name: "frozen" type: "InnerProduct" bottom: "ip1" top: "frozen"
  param { lr_mult: 0 } param { lr_mult: 0 }
  inner_product_param { num_output: 16 weight_filler { type: "xavier" } } }
layer { name: "a" type: "InnerProduct" bottom: "ip1" top: "a" param { name: "w" }
  inner_product_param { num_output: 3 weight_filler { type: "xavier" } } }
layer { name: "b" type: "InnerProduct" bottom: "frozen" top: "b" param { name: "w" }
  inner_product_param { num_output: 3 weight_filler { type: "xavier" } } }
layer { name: "sum" type: "Eltwise" bottom: "a" bottom: "b" top: "sum" }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "sum" bottom: "label" top: "loss" }
""" % BATCH

SOLVER = """
net: "%s.prototxt" base_lr: 0.05 momentum: 0.9 weight_decay: 0.001 lr_policy: "fixed"
max_iter: 7 display: 1 snapshot_prefix: "%s" random_seed: 7 test_iter: 1
test_interval: 4
"""


def check(condition, text):
    """Ends the test with the message `text` unless the condition holds."""
    if not condition:
        sys.exit("failed: " + text)


class Ranks:
    def __init__(self, brewc, brew_run, folder):
        self.brewc, self.brew_run, self.folder = brewc, brew_run, folder
        self.started = []
        random = numpy.random.RandomState(3)
        self.data = random.randn(RECORDS, 2, 6, 6).astype("f4")
        self.label = random.randint(0, 3, RECORDS).astype("f4")
        self.write("plain", numpy.arange(RECORDS))

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, order):
        """Writes the records in the given order to NAME.h5, and a list of that file to NAME.txt."""
        with h5py.File(self.path(name + ".h5"), "w") as file:
            file["data"] = self.data[order]
            file["label"] = self.label[order]
        with open(self.path(name + ".txt"), "w") as file:
            file.write(name + ".h5\n")

    def interleaved(self, ranks):
        """Writes the records in an order such that one rank with iter_size reads the
        batches of all ranks."""
        order = [(step * BATCH + row) * ranks + rank
                 for step in range(RECORDS // (ranks * BATCH))
                 for rank in range(ranks) for row in range(BATCH)]
        name = "interleaved%d" % ranks
        self.write(name, order)
        return name

    def compile(self, name, data="plain", solver="", flags=(), net=NET):
        """Compiles a net to NAME.plan. `solver` are further fields of the solver. Returns `name`."""
        with open(self.path(name + ".prototxt"), "w") as file:
            file.write(net.replace("LIST", data + ".txt"))
        with open(self.path(name + "_solver.prototxt"), "w") as file:
            file.write(SOLVER % (name, name) + solver)
        subprocess.run([self.brewc, name + "_solver.prototxt", *flags, "-o",
                        name + ".plan"], cwd=self.folder, check=True)
        return name

    def command(self, name, *flags):
        return [self.brew_run, "train", name + ".plan", "--threads", "1", *flags]

    def train(self, name, *flags, command=None, status=0, seconds=120):
        """Trains a plan, or runs `command`. Checks the exit status unless it is None; returns the log."""
        process = self.start(name, *flags, command=command)
        log = self.end(process, seconds)
        if status is not None and process.returncode != status:
            sys.exit("failed: %s ended with %d\n%s" % (process.args, process.returncode,
                                                       log[-4000:]))
        self.status = process.returncode
        return log

    def start(self, name, *flags, command=None):
        """Starts training in a new session (setsid), through which end_all() finds the ranks."""
        with open(self.path("log"), "w") as log:
            self.started.append(subprocess.Popen(
                command or self.command(name, *flags), cwd=self.folder, stderr=log,
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                start_new_session=True))
        return self.started[-1]

    def end(self, process, seconds=120):
        """Waits for the end of a process; returns its log."""
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            sys.exit("failed: %s still runs after %d s\n%s" % (process.args, seconds,
                                                               self.log()[-4000:]))
        return self.log()

    def end_all(self):
        """Kills all started processes that still run: launchers, mpirun and ranks."""
        sessions = [process.pid for process in self.started]
        for entry in filter(str.isdigit, os.listdir("/proc")):
            try:
                if os.getsid(int(entry)) in sessions:
                    os.kill(int(entry), signal.SIGKILL)
            except OSError:  # the process has just ended
                continue

    def ranks_of(self, process):
        """Returns the process ids of the ranks that a process started, by rank."""
        ranks = {}
        parents = {}
        for entry in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open("/proc/%s/stat" % entry) as file:
                    parents[int(entry)] = int(file.read().rsplit(")", 1)[1].split()[1])
            except OSError:
                continue
        for child in parents:
            ancestor = child
            while ancestor in parents and ancestor != process.pid:
                ancestor = parents[ancestor]
            if ancestor != process.pid or child == process.pid:
                continue
            try:
                with open("/proc/%d/environ" % child, "rb") as file:
                    rank = re.search(rb"OMPI_COMM_WORLD_RANK=(\d+)", file.read())
            except OSError:
                continue
            if rank:
                ranks[int(rank.group(1))] = child
        return ranks

    def wait_for(self, condition, seconds=120):
        """Waits until `condition()` is true. Fails if the training that was started last ends."""
        begin = time.time()
        while not condition():
            ended = self.started[-1].poll()
            if ended is not None or time.time() - begin > seconds:
                sys.exit("failed: nothing happened in %d s (status %s)\n%s" % (
                    time.time() - begin, ended, self.log()[-3000:]))
            time.sleep(0.02)

    def log(self):
        with open(self.path("log"), errors="replace") as file:
            return file.read()

    def weights(self, name, iteration=7):
        with open(self.path("%s_iter_%d.caffemodel" % (name, iteration)), "rb") as file:
            return file.read()

    def near(self, a, b):
        """Returns whether two weight files with the same layout are equal except for
        rounding."""
        check(len(a) == len(b), "the weights have different sizes")
        a, b = (numpy.frombuffer(x[:len(x) // 4 * 4], "u1").astype(int) for x in (a, b))
        # Rounding changes only the lower bytes of floats, so at least 55 % of all bytes are equal.
        return (a != b).mean() < 0.45

    # Cases.

    def values(self):
        """N ranks are equivalent to one rank with iter_size N over the same records."""
        many = self.compile("many", flags=["--distributed", "--bucket-mb", "0.0005"])
        for ranks in 1, 2, 3, 4:
            one = self.compile("one%d" % ranks, self.interleaved(ranks),
                               "iter_size: %d" % ranks)
            self.train(one)
            log = self.train(many, "--ranks", str(ranks), "--deterministic")
            check(self.weights(one) == self.weights(many), "%d ranks" % ranks)
            check(log.count("Iteration 6 (") == 1, "rank 0 alone logs:\n" + log)
            check(log.count("Test net output") == 2, "rank 0 alone tests:\n" + log)

    def order(self):
        """The transport's default order of summation differs only by rounding."""
        many = self.compile("many", flags=["--distributed"])
        self.train(many, "--ranks", "3", "--deterministic")
        fixed = self.weights(many)
        self.train(many, "--ranks", "3")
        check(self.near(fixed, self.weights(many)), "the sums differ")

    def clip(self):
        """Clipping uses the norm of the averaged gradients."""
        for ranks in 2, 4:
            one = self.compile("one%d" % ranks, self.interleaved(ranks),
                               "iter_size: %d clip_gradients: %g" % (ranks, 0.3 * ranks))
            many = self.compile("many", solver="clip_gradients: 0.3",
                                flags=["--distributed"])
            log = self.train(one)
            check("scaling down" in log, "nothing was clipped:\n" + log)
            self.train(many, "--ranks", str(ranks), "--deterministic")
            check(self.weights(one) == self.weights(many), "%d ranks" % ranks)

    def iter_size(self):
        """Each rank accumulates its batches before the all-reduce; so does a plan that was
        compiled for one batch."""
        one = self.compile("one", self.interleaved(2), "iter_size: 2")
        accumulating = self.compile("both", solver="iter_size: 2", flags=["--distributed"])
        plain = self.compile("plain_plan", flags=["--distributed"])
        self.train(accumulating, "--ranks", "2", "--deterministic")
        self.train(plain, "--ranks", "2", "--deterministic", "--iter-size", "2")
        check(self.weights(accumulating) == self.weights(plain), "iter_size 2 on 2 ranks")
        # --iter-size 1 has the same result as a plan compiled for one batch.
        self.train(one)
        self.train(accumulating, "--ranks", "2", "--deterministic", "--iter-size", "1")
        check(self.weights(accumulating) == self.weights(one), "iter_size 1 on 2 ranks")

    def resume(self):
        """A run resumes from its snapshot on the same and on other numbers of ranks."""
        many = self.compile("many", solver="snapshot: 3", flags=["--distributed"])
        self.train(many, "--ranks", "2", "--deterministic")
        uninterrupted = self.weights(many)
        for ranks in "2", "1", "3":
            self.train(many, "--ranks", ranks, "--deterministic", "--snapshot",
                       "many_iter_3.solverstate")
            check((self.weights(many) == uninterrupted) == (ranks == "2"),
                  "resumed on %s ranks" % ranks)

    def disagree(self):
        """Ranks with different plans or solvers fail before training."""
        many = self.compile("many", flags=["--distributed"])
        changed = self.compile("other", solver="gamma: 0.5", flags=["--distributed"])
        for difference, first, second in (
                ("plan", [many], [changed]),
                ("solver", [many], [many, "--base-lr", "0.5"])):
            root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
            log = self.train(None, command=[
                "mpirun", "--quiet", "--oversubscribe", *root, "-n", "1",
                *self.command(*first), ":", "-n", "1", *self.command(*second)],
                status=1)
            lines = [line for line in log.splitlines() if "error" in line]
            check(len(lines) == 1 and "rank 1 disagrees with rank 0: it has another "
                  + difference in lines[0], log)

    def usage(self):
        """Each unsupported option is reported once, by name."""
        alone = self.compile("alone")
        log = self.train(alone, "--ranks", "2", status=1)
        check(log.count("compiled without --distributed") == 1, log)
        for flags in (["--comm-timeout", "5"], ["--distributed-test"],
                      ["--shard-update"]):
            log = self.train(alone, *flags, status=2)
            check(flags[0] + " needs several ranks" in log, log)
        log = self.train(alone, "--max-restarts", "2", status=2)
        check("--max-restarts needs --ranks" in log, log)
        log = self.train(alone, "--ranks", "2", "--max-restarts", "2", "--earlier-snapshots", "list",
                         status=2)
        check("omit --earlier-snapshots" in log, log)
        many = self.compile("many", flags=["--distributed"])
        log = self.train(many, "--ranks", "2", "--snapshot", "nowhere", status=3)
        check("rank " in log and "nowhere" in log, log)

    def run_long(self, *flags, timeout=60):
        """Starts a run on three ranks and waits for snapshots; returns its process and its ranks."""
        many = self.compile("many", solver="snapshot: 5", flags=["--distributed"])
        process = self.start(many, "--ranks", "3", "--max-iter", "100000000",
                             "--display", "0", "--test-interval", "100000000",
                             "--comm-timeout", str(timeout), *flags)
        self.wait_for(lambda: os.path.exists(self.path("many_iter_50.solverstate")))
        ranks = self.ranks_of(process)
        check(sorted(ranks) == [0, 1, 2], "ranks %s" % ranks)
        return process, ranks

    def newest_state(self):
        states = [int(name.split("_")[2].split(".")[0])
                  for name in os.listdir(self.folder) if name.endswith(".solverstate")]
        return "many_iter_%d.solverstate" % max(states)

    def dies(self):
        """A killed rank ends the other ranks; the last snapshot is complete."""
        process, ranks = self.run_long()
        os.kill(ranks[1], signal.SIGKILL)
        log = self.end(process)
        check(process.returncode not in (0, 1, 2), "status %d" % process.returncode)
        check("rank 1" in log, log)
        newest = self.newest_state()
        last = int(newest.split("_")[2].split(".")[0])
        self.train("many", "--snapshot", newest, "--max-iter", str(last + 2),
                   "--ranks", "2")

    def hangs(self):
        """A hanging rank ends the run; the error names the rank."""
        for rank in 2, 0:
            process, ranks = self.run_long(timeout=5)
            os.kill(ranks[rank], signal.SIGSTOP)
            log = self.end(process)
            check(process.returncode not in (0, 1, 2), "status %d" % process.returncode)
            check("rank %d does not answer for 5 s" % rank in log, log)
            check(log.count("does not answer") == 1, log)
            self.remove_snapshots()

    def remove_snapshots(self):
        for name in os.listdir(self.folder):
            if "_iter_" in name:
                os.remove(self.path(name))

    def restarts(self):
        """--max-restarts continues from the last snapshot, also after a signal that only
        requested a snapshot."""
        process, ranks = self.run_long("--max-restarts", "1", "--sighup-effect",
                                       "stop", "--sigint-effect", "snapshot")
        process.send_signal(signal.SIGINT)
        time.sleep(0.3)
        os.kill(ranks[2], signal.SIGKILL)
        # Before that line of the log, the ranks may not have installed their signal handlers.
        self.wait_for(lambda: "Starting Optimization"
                      in self.log().partition("restart 1 of 1")[2])
        process.send_signal(signal.SIGHUP)
        log = self.end(process)
        check(process.returncode == 0, "status %d\n%s" % (process.returncode, log[-3000:]))
        restarted_log = log.partition("restart 1 of 1")[2]
        check("Resuming from many_iter_" in restarted_log, restarted_log[-3000:])

    def requests(self):
        """Requests of one rank's threads to its trainer apply to all ranks (requests.cpp)."""
        many = self.compile("many", flags=["--distributed"])
        root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
        log = self.train(None, command=["mpirun", "--quiet", "--oversubscribe", *root,
                                        "-n", "2", self.program, many + ".plan"])
        check("failed" not in log, log)

    def together(self):
        """The communicator works without a trainer (together.cpp)."""
        root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
        for ranks in "2", "3":
            log = self.train(None, command=["mpirun", "--quiet", "--oversubscribe", *root,
                                            "-n", ranks, self.program])
            check("failed" not in log, log)

    def stops(self):
        """SIGINT and SIGTERM end all ranks with a snapshot; a second SIGINT ends them at once."""
        for number, status in (signal.SIGINT, 0), (signal.SIGTERM, 143):
            process, _ = self.run_long("--sigint-effect", "stop", "--sighup-effect", "none")
            process.send_signal(number)
            log = self.end(process)
            check(process.returncode == status, "status %d" % process.returncode)
            check("Optimization stopped early" in log, log[-2000:])
            check(log.count("Stopped by SIGTERM") == (status == 143), log[-2000:])
            self.remove_snapshots()
        process, ranks = self.run_long()
        os.kill(ranks[1], signal.SIGSTOP)
        process.send_signal(signal.SIGINT)
        time.sleep(0.8)
        check(process.poll() is None, "ended after one signal")
        process.send_signal(signal.SIGINT)
        begin = time.time()
        self.end(process)
        check(process.returncode != 0 and time.time() - begin < 30, "status %d" % process.returncode)

    def stops_early(self):
        """SIGTERM ends a run also while the launcher and the ranks start."""
        name = self.compile("many", flags=["--distributed"])
        for delay in 0, .03, .1, .2, .4, .8:
            process = self.start(name, "--ranks", "2", "--max-iter", "1000000000", "--display", "0")
            self.wait_for(lambda: self.handles(process, signal.SIGTERM))
            time.sleep(delay)
            process.send_signal(signal.SIGTERM)
            self.end(process, 60)
            check(process.returncode == 143, "%g s: status %d\n%s" % (
                delay, process.returncode, self.log()[-2000:]))

    def handles(self, process, number):
        """Returns whether a process has a handler for a signal."""
        with open("/proc/%d/status" % process.pid) as file:
            handled = re.search(r"SigCgt:\s*(\w+)", file.read())
        return bool(handled) and int(handled.group(1), 16) >> (number - 1) & 1

    def closed_log(self):
        """SIGINT ends all ranks with a snapshot, although nobody reads the log any more."""
        name = self.compile("many", flags=["--distributed"])
        process = subprocess.Popen(self.command(name, "--ranks", "2", "--max-iter", "1000000000"),
                                   cwd=self.folder, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                   stdout=subprocess.DEVNULL, start_new_session=True)
        self.started.append(process)
        while b"Iteration 3," not in process.stderr.readline() and process.poll() is None:
            pass
        process.stderr.close()
        process.send_signal(signal.SIGINT)
        check(process.wait(120) == 0, "status %d" % process.returncode)
        check(any(file.endswith(".solverstate") for file in os.listdir(self.folder)), "no snapshot")


def main(cases=Ranks):
    """Runs the case of the command line, a method of `cases`."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--brewc", required=True)
    parser.add_argument("--brew-run", required=True)
    parser.add_argument("--program", help="program that `requests` and `together` run")
    parser.add_argument("case")
    options = parser.parse_args()
    plugin = os.path.join(os.path.dirname(options.brew_run), "..", "lib",
                          "libbrew_mpi.so")
    for is_available in shutil.which("mpirun"), os.path.exists(plugin):
        if not is_available:
            print("skipped: mpirun or libbrew_mpi.so is missing")
            sys.exit(SKIPPED)
    with tempfile.TemporaryDirectory() as folder:
        case = cases(options.brewc, options.brew_run, folder)
        case.program = options.program
        try:
            getattr(case, options.case)()
        except BaseException:  # usually SystemExit
            case.end_all()
            raise


if __name__ == "__main__":
    main()
