"""Tests training on several GPUs of the CUDA simulator, with its replacement for NCCL.

    gpus.py --brewc BREWC --brew-run BREW_RUN CASE

Like ranks.py; cases are the methods of Gpus below.
"""
import os
import re
import signal

import numpy
from ranks import BATCH, RECORDS, Ranks, check, main

SIM = ["--target", "cuda", "--gpu-arch", "sim", "--distributed"]


class Gpus(Ranks):
    def __init__(self, brewc, brew_run, folder):
        super().__init__(brewc, brew_run, folder)
        os.environ["CUDASIM_DEVICES"] = "4"
        os.environ["BREW_CUDASIM"] = os.path.join(os.path.dirname(brew_run), "..",
                                                  "lib", "cudasim")

    def gpu(self):
        """N GPUs are equivalent to one with iter_size N, except for the order of summation."""
        many = self.compile("many", flags=SIM + ["--bucket-mb", "0.0005"])
        for ranks, names in (2, "0,1"), (3, "3,1,0"), (4, "all"):
            one = self.compile("one%d" % ranks, self.interleaved(ranks),
                               "iter_size: %d" % ranks, flags=SIM)
            self.train(one)
            log = self.train(many, "-gpu", names)
            check(self.near(self.weights(one), self.weights(many)), names)
            check("Training on %d ranks" % ranks in log, log)
            check("CUDA graph" not in log, log)  # no message about a failed capture
        # Accumulation over several batches, and resuming from a snapshot.
        self.train(many, "-gpu", "0,1", "--iter-size", "2", "--snapshot-interval", "3")
        self.train(many, "-gpu", "1,0", "--snapshot", "many_iter_3.solverstate")

    def caffe(self):
        """caffe train -gpu trains on several GPUs; test and time use the first one."""
        os.environ["XDG_CACHE_HOME"] = self.path("cache")
        caffe = os.path.join(os.path.dirname(self.brew_run), "caffe")
        many = self.compile("many", flags=SIM)
        for names, ranks in ("0,1", 2), ("all", 4):
            self.train(many, "-gpu", names)
            expected = self.weights(many)
            log = self.train(many, command=[caffe, "train", "-solver", "many_solver.prototxt",
                                            "-gpu", names, "-log_dir", self.folder])
            check("Training on %d ranks" % ranks in log, log)
            check(self.near(expected, self.weights(many)), names)
            with open(self.path("caffe.INFO")) as file:
                check("Iteration 6 (" in file.read(), "the log file lacks lines")
        log = self.train(many, command=[caffe, "time", "-model", "many.prototxt", "-gpu", "1,0",
                                        "-iterations", "1"])
        check("Use GPU with device ID 1 " in log, log)
        for names, status, text in (("0,7", 3, "-gpu 0,7: there is no GPU 7; the last one is 3"),
                                    ("0,,1", 2, "use numbers separated by commas, or all")):
            log = self.train(many, command=[caffe, "train", "-solver", "many_solver.prototxt",
                                            "-gpu", names], status=status)
            check(text in log, log)

    def scale(self):
        """Non-finite f16 gradients on one GPU make all GPUs skip the update."""
        flags = [*SIM, "--precision", "f16"]
        self.data[(2 * BATCH + 1) * 2 + 1] = numpy.nan  # a record of rank 1, in iteration 3
        self.write("plain", numpy.arange(RECORDS))
        many = self.compile("many", solver="snapshot: 1", flags=flags)
        one = self.compile("one", self.interleaved(2), "iter_size: 2", flags=flags)
        self.train(one)
        self.train(many, "-gpu", "0,1")
        check(self.near(self.weights(one), self.weights(many)), "2 GPUs")
        skipped = [i for i in range(2, 7)
                   if self.weights(many, i) == self.weights(many, i - 1)]
        check(skipped == [3], "skipped updates: %s" % skipped)

    def single(self):
        """One rank computes the same values with and without an NCCL communicator."""
        net = self.compile("net", flags=SIM + ["--bucket-mb", "0.0005"])
        pattern = r"(?:Train|Test) net output #0: loss = \S+"
        for flags in ((), ("--iter-size", "2")):
            os.environ.pop("BREW_NCCL_SINGLE_RANK", None)
            log = self.train(net, *flags)
            losses, weights = re.findall(pattern, log), self.weights(net)
            check(len(losses) > 7, log)
            check("NCCL" not in log, log)
            os.environ["BREW_NCCL_SINGLE_RANK"] = "1"
            log = self.train(net, *flags)
            check(re.findall(pattern, log) == losses, log)
            check(self.weights(net) == weights, "the weights differ with NCCL")
            check("NCCL 2.27.3 adds gradients up over one rank" in log, log)
            check("CUDA graph" not in log, log)  # no message about a failed capture
        # Without the NCCL library, training with a communicator fails at the start.
        del os.environ["BREW_NCCL_SINGLE_RANK"]
        folder = self.path("cudasim")
        os.mkdir(folder)
        for name in os.listdir(os.environ["BREW_CUDASIM"]):
            if "nccl" not in name:
                os.symlink(os.path.join(os.environ["BREW_CUDASIM"], name),
                           os.path.join(folder, name))
        os.environ["BREW_CUDASIM"] = folder
        self.train(net)
        os.environ["BREW_NCCL_SINGLE_RANK"] = "1"
        log = self.train(net, status=3)
        check("needs NCCL, which cannot be opened" in log, log)

    def usage(self):
        """Wrong or unsupported options are errors."""
        many = self.compile("many", flags=SIM)
        log = self.train(many, "-gpu", "0,1", "--ranks", "3", status=2)
        check("--ranks 3, but -gpu names 2 GPUs" in log, log)
        log = self.train(many, "-gpu", "0,7", status=3)
        check("rank 1: " in log, log)
        log = self.train(many, "-gpu", "0,1", "--shard-update", status=2)
        check("--shard-update supports only CPU plans" in log, log)

    def link(self):
        """An asynchronous error of NCCL ends all ranks; the message names the rank."""
        many = self.compile("many", flags=SIM)
        os.environ["NCCLSIM_FAIL_AFTER"] = "4"
        log = self.train(many, "-gpu", "0,1", status=3)
        check("rank 1: adding gradients up over GPUs: NCCL: remote process" in log, log)

    def hangs(self):
        """A hanging rank ends the other ranks, although they wait on the device."""
        many = self.compile("many", flags=SIM)
        process = self.start(many, "-gpu", "0,1", "--max-iter", "1000000",
                             "--display", "1", "--test-interval", "1000000",
                             "--comm-timeout", "5")
        self.wait_for(lambda: "Iteration 5 " in self.log())
        ranks = self.ranks_of(process)
        check(sorted(ranks) == [0, 1], "ranks %s" % ranks)
        os.kill(ranks[1], signal.SIGSTOP)
        log = self.end(process)
        check(process.returncode not in (0, 1, 2), "status %d" % process.returncode)
        check("rank 1 does not answer for 5 s" in log, log[-2000:])


if __name__ == "__main__":
    main(Gpus)
