"""Tests optional modes of ranks: bf16 gradients, synchronized BatchNorm, distributed tests,
sharded updates, and rules that end training.

    modes.py --brewc BREWC --brew-run BREW_RUN CASE

Like ranks.py; cases are the methods of Modes below.
"""
import os
import re
import struct
import subprocess

import h5py
import numpy
from ranks import BATCH, NET, RECORDS, Ranks, check, main

NORM = NET.replace('layer { name: "relu" ', """layer { name: "bn" type: "BatchNorm"
  bottom: "conv" top: "conv" batch_norm_param { moving_average_fraction: 0.9 } }
layer { name: "relu" """)
# The gradient of a bias before BatchNorm consists of rounding errors, so there is no bias.
NORM = NORM.replace("num_output: 6 kernel_size: 3", "num_output: 6 kernel_size: 3 bias_term: false")


class Modes(Ranks):
    def blobs(self, name, iteration=7):
        """Returns the parameters of an HDF5 snapshot by name."""
        blobs = {}
        with h5py.File(self.path("%s_iter_%d.caffemodel.h5" % (name, iteration)),
                       "r") as file:
            file.visititems(lambda path, item: blobs.__setitem__(path, item[()])
                            if isinstance(item, h5py.Dataset) else None)
        return blobs

    def distance(self, a, b, only=""):
        """Returns the largest difference in a parameter, relative to the parameter's largest magnitude.

        Compares only parameters whose name contains `only`."""
        check(sorted(a) == sorted(b), "the parameters have different names")
        return max(float(abs(a[key] - b[key]).max() / (abs(a[key]).max() + 1e-12))
                   for key in a if only in key)

    def half(self):
        """Sending gradients as bf16 changes the weights only by rounding."""
        hdf5 = "snapshot_format: HDF5"
        exact = self.compile("exact", solver=hdf5, flags=["--distributed"])
        half = self.compile("half", solver=hdf5,
                            flags=["--distributed", "--reduce-precision", "bf16"])
        for ranks in "1", "2", "3":
            self.train(exact, "--ranks", ranks, "--deterministic")
            self.train(half, "--ranks", ranks)
            error = self.distance(self.blobs(exact), self.blobs(half))
            check(error == 0 if ranks == "1" else 0 < error < 0.02,
                  "%s ranks: error %g" % (ranks, error))
        # With iter_size, ranks send the sums over batches.
        self.train(exact, "--ranks", "2", "--deterministic", "--iter-size", "2")
        self.train(half, "--ranks", "2", "--iter-size", "2")
        error = self.distance(self.blobs(exact), self.blobs(half))
        check(0 < error < 0.02, "iter_size: error %g" % error)

    def scale(self):
        """All ranks have the same loss scale (f16): if the gradients of one rank are not
        finite, all ranks skip the update."""
        flags = ["--precision", "f16", "--loss-scale-window", "2"]
        finite_data = self.data.copy()
        self.data[(2 * BATCH + 1) * 2 + 1] = numpy.nan  # a record of rank 1, in iteration 3
        self.write("plain", numpy.arange(RECORDS))
        many = self.compile("many", solver="snapshot: 1", flags=["--distributed", *flags])
        one = self.compile("one", self.interleaved(2), "iter_size: 2", flags=flags)
        self.train(one)
        for extra_flags in [], ["--shard-update"]:
            self.train(many, "--ranks", "2", "--deterministic", *extra_flags)
            check(self.weights(many) == self.weights(one), "2 ranks %s" % extra_flags)
            skipped = [i for i in range(2, 7) if self.weights(many, i) == self.weights(many, i - 1)]
            check(skipped == [3], "skipped updates: %s" % skipped)
        # With iter_size 2, iteration 2 reads the non-finite record. One rank accepts the plan, too.
        self.train(many, "--ranks", "2", "--deterministic", "--iter-size", "2")
        check(self.weights(many, 2) == self.weights(many, 1), "iter_size 2")
        self.train(many, "--ranks", "1")
        self.data = finite_data
        self.write("plain", numpy.arange(RECORDS))
        # The data are finite; gradients overflow on all ranks because the loss scale is too large.
        self.train(one, "--loss-scale", "16777216")
        self.train(many, "--ranks", "2", "--deterministic", "--loss-scale", "16777216")
        check(self.weights(many) == self.weights(one), "the loss scale is too large")
        check(self.weights(many, 1) == self.weights(many, 2), "the loss scale that is too large was kept")
        log = self.train(many, "--ranks", "2", "--loss-scale", "3", status=2)
        check("must be a power of two" in log, log)

    def boost(self):
        """Ranks with different lists of weights fail: they would not partition the records."""
        for name, header in ("images", (2051, 16, 4, 4)), ("labels", (2049, 16)):
            with open(self.path(name), "wb") as file:
                file.write(struct.pack(">%di" % len(header), *header))
                file.write(bytes(number % 3 for number in range(16 * (16 if name == "images" else 1))))
        subprocess.run([os.path.join(os.path.dirname(self.brewc), "brew-data"), "mnist", self.path("images"),
                        self.path("labels"), self.path("db")], check=True)
        net = NET.replace('"HDF5Data"', '"Data"').replace(
            'hdf5_data_param { source: "LIST"',
            'data_param { source: "%s" backend: LMDB boost_file: "boost.txt"' % self.path("db"))
        net = net.replace("kernel_size: 3", "kernel_size: 3 pad: 1")
        with open(self.path("boost.txt"), "w") as file:
            file.write("00000001 2\n00000004 3\n")
        many = self.compile("many", flags=["--distributed"], net=net)
        self.train(many, "--ranks", "2")
        root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
        command = [self.brew_run, "train", self.path(many + ".plan"), "--threads", "1"]
        for weight, status in (3, 0), (4, 1):
            for folder in "a", "b":
                os.makedirs(self.path(folder), exist_ok=True)
                with open(self.path(folder + "/boost.txt"), "w") as file:
                    file.write("00000001 2\n00000004 %d\n" % (weight if folder == "b" else 3))
            log = self.train(None, status=status, command=[
                "mpirun", "--quiet", "--oversubscribe", *root,
                "-n", "1", "--wdir", self.path("a"), *command, ":",
                "-n", "1", "--wdir", self.path("b"), *command])
            lines = [line for line in log.splitlines() if "error" in line]
            check(len(lines) == status and (not status or "rank 1 disagrees with rank 0: it has another content "
                                            "of the data, or list of weights" in lines[0]), log)

    def sync_batchnorm(self):
        """With synchronized BatchNorm, N ranks with batch b are equivalent to one rank with batch N * b."""
        hdf5 = "snapshot_format: HDF5"
        for ranks in 2, 3:
            data = self.interleaved(ranks)
            large = NORM.replace("batch_size: %d" % BATCH,
                                 "batch_size: %d" % (BATCH * ranks))
            one = self.compile("one", data, hdf5, net=large)
            self.train(one)
            errors = {}
            for name, flags in (("own", []), ("shared", ["--sync-batchnorm"])):
                many = self.compile(name, solver=hdf5, net=NORM,
                                    flags=["--distributed", *flags])
                self.train(many, "--ranks", str(ranks), "--deterministic")
                errors[name] = self.distance(self.blobs(one), self.blobs(many))
            check(errors["shared"] < 2e-4 and errors["own"] > 0.01, str(errors))
        # The plan also runs on one rank, and with accumulation over batches.
        self.train("shared")
        self.train("shared", "--ranks", "2", "--iter-size", "2")

    def outputs(self, log):
        """Returns the lines of the log about tests."""
        return re.findall(r"Iteration \d+, Testing net.*|Test net output.*|Test loss.*",
                          log)

    def shared_test(self):
        """A distributed test has the same results as a test on rank 0 alone."""
        fields = ["--test-iter", "5", "--test-interval", "2", "--deterministic"]
        many = self.compile("many", net=NORM,
                            solver="snapshot: 3 test_compute_loss: true",
                            flags=["--distributed"])
        for ranks in "2", "3":
            alone = self.outputs(self.train(many, "--ranks", ranks, *fields))
            shared = self.outputs(self.train(many, "--ranks", ranks, *fields,
                                             "--distributed-test"))
            check(len(alone) > 8 and alone == shared, "%s\n%s" % (alone, shared))
        # A resumed run continues reading at the same record.
        uninterrupted = self.outputs(self.train(many, "--ranks", "2", *fields,
                                                "--distributed-test"))
        resumed = self.outputs(self.train(many, "--ranks", "2", *fields,
                                          "--distributed-test", "--snapshot",
                                          "many_iter_3.solverstate"))
        check(resumed and uninterrupted[-len(resumed):] == resumed,
              "%s\n%s" % (uninterrupted, resumed))

    def shard(self):
        """A sharded update has the same results and snapshots as an update on each rank."""
        solver = 'snapshot: 3 type: "Adam" momentum2: 0.99 snapshot_diff: true'
        many = self.compile("many", solver=solver, flags=["--distributed"])

        def read_and_remove_snapshots():
            contents = {}
            for iteration in 3, 6, 7:
                for extension in "caffemodel", "solverstate":
                    path = self.path("many_iter_%d.%s" % (iteration, extension))
                    with open(path, "rb") as file:
                        contents[iteration, extension] = file.read()
                    os.remove(path)
            return contents

        for ranks in "2", "4":
            flags = ["--ranks", ranks, "--deterministic"]
            self.train(many, *flags)
            replicated = read_and_remove_snapshots()
            self.train(many, *flags, "--shard-update")
            sharded = read_and_remove_snapshots()
            different = [key for key in replicated if replicated[key] != sharded[key]]
            check(not different, "%s ranks: %s" % (ranks, different))
        # The snapshot is complete: runs without a sharded update resume from it.
        self.train(many, "--ranks", "3", "--deterministic", "--shard-update")
        for ranks in "1", "2":
            results = []
            for flags in [], ["--shard-update"]:
                self.train(many, "--ranks", ranks, "--deterministic", "--snapshot",
                           "many_iter_3.solverstate", *flags)
                results.append(self.weights("many"))
            check(results[0] == results[1], "resumed on %s ranks" % ranks)
        # Sharded updates also support --snapshot-best, clipping and iter_size.
        self.train(many, "--ranks", "2", "--shard-update", "--snapshot-best",
                   "test.loss", "--clip-gradients", "0.1", "--iter-size", "2")
        check(os.path.exists(self.path("many_best_test.loss.solverstate")),
              "there is no best snapshot")

    def rates(self):
        """All ranks have the same learning rates, although their losses differ: of the policy plateau,
        which follows rank 0's loss, and of single parameters."""
        plateau = self.compile("plateau", flags=["--distributed"], solver='snapshot: 1')
        log = self.train(plateau, "--ranks", "2", "--deterministic", "--lr-policy", "plateau", "--gamma", "0.25",
                         "--plateau-winsize", ",".join(["1"] * 12), "--max-iter", "12")
        steps = re.findall(r"Plateau Status: Iteration (\d+), step", log)
        check(0 < len(steps) < 11, "steps: %s" % steps)
        weights = self.weights(plateau, 12)
        self.train(plateau, "--ranks", "2", "--deterministic", "--lr-policy", "multistep", "--gamma", "0.25",
                   "--stepvalue", ",".join(steps), "--max-iter", "12")
        check(self.weights(plateau, 12) == weights, "plateau")
        for number, fields in enumerate(("local_lr_auto: true", 'larc: true larc_eta: 0.01',
                                         'larc: true larc_policy: "clip" larc_eta: 0.01')):
            many = self.compile("many%d" % number, solver=fields, flags=["--distributed"])
            one = self.compile("one%d" % number, self.interleaved(2), "iter_size: 2 " + fields)
            self.train(one)
            self.train(many, "--ranks", "2", "--deterministic")
            check(self.weights(many) == self.weights(one), fields)
            self.train(many, "--ranks", "2", "--deterministic", "--shard-update")
            check(self.weights(many) == self.weights(one), "sharded: " + fields)

    def rules(self):
        """Rules stop all ranks after the same iteration."""
        many = self.compile("many", flags=["--distributed"])
        for flags in (["--stop-when", "iter >= 4"],
                      ["--patience", "1:test.loss:max", "--test-interval", "2"]):
            log = self.train(many, "--ranks", "3", *flags)
            check("Optimization Done" in log, log)
            check(not os.path.exists(self.path("many_iter_7.caffemodel")), log)
        log = self.train(many, "--ranks", "2", "--stop-when", "nothing", status=2)
        check("nothing" in log, log)

    def hooks(self):
        """Actions of rank 0's hooks run on all ranks."""
        many = self.compile("many", flags=["--distributed"])
        with open(self.path("run.hooks"), "w") as file:
            file.write("low: after 2 iterations do set base_lr 0.01\n"
                       "see: after 3 iterations do test\n"
                       "keep: at test do snapshot\n"
                       "end: every iteration if iter >= 4 for 2 do stop\n")
        self.train(many, "--ranks", "1", "--max-iter", "1", "--hooks", "run.hooks")
        log = self.train(many, "--ranks", "3", "--deterministic", "--test-interval", "0",
                         "--hooks", "run.hooks")
        for words in ("From iteration 2 on, base_lr is 0.01", "Iteration 3, Testing net (#0)",
                      "Stopping after 5 iterations: hook 'end'"):
            check(log.count(words) == 1, (words, log))
        check(os.path.exists(self.path("many_iter_3.solverstate")), log)
        uninterrupted = self.weights("many", 5)
        self.train(many, "--ranks", "3", "--deterministic", "--test-interval", "0",
                   "--hooks", "run.hooks", "--snapshot", "many_iter_3.solverstate")
        check(self.weights("many", 5) == uninterrupted, "the resumed run has other weights")
        # All ranks change their parameters alike, and go back together.
        with open(self.path("change.hooks"), "w") as file:
            file.write("every iteration do clip ip1.weights to -0.1 0.1\n"
                       "after 2 iterations do reinitialise *.bias with uniform(0, 1)\n"
                       "after 3 iterations do freeze *.weights\n"
                       "after 4 iterations do scale *.bias by 0.5\n"
                       "every 5 iterations if lr > 0.005 do restore last\n"
                       "every 5 iterations do set base_lr 0.001\n"
                       "after 6 iterations do unfreeze *\n")
        # Seeds differ by rank, but not the values that a hook draws.
        one = self.compile("one", self.interleaved(2), "iter_size: 2 snapshot: 3")
        many = self.compile("many", solver="snapshot: 3", flags=["--distributed"])
        for plan, flags in ((one, []), (many, ["--ranks", "2", "--deterministic"])):
            log = self.train(plan, "--hooks", "change.hooks", *flags)
            check(log.count("restores %s_iter_3.solverstate" % plan) == 1, log)
        check(self.weights(many) == self.weights(one), "changes of parameters")
        with open(self.path("best.hooks"), "w") as file:
            file.write("at stop do save_best train.loss\n")
        # The error names the line of the file.
        log = self.train(many, "--ranks", "2", "--shard-update", "--hooks", "best.hooks",
                         status=1)
        check("best.hooks, line 1" in log and "save_best" in log, log)

    def nan(self):
        """A non-finite value on one rank ends all ranks with that rank's message."""
        self.data[13, 1, 2, 3] = numpy.nan  # a record of rank 1, in iteration 1
        self.write("with_nan", numpy.arange(RECORDS))
        for name, net, flags in (("many", NET, []),
                                 ("norm", NORM, ["--sync-batchnorm"])):
            many = self.compile(name, "with_nan", net=net,
                                flags=["--distributed", *flags])
            log = self.train(many, "--ranks", "2", "--check-nan", status=1)
            lines = [line for line in log.splitlines() if "error:" in line]
            check(len(lines) == 1 and "iteration 1: rank 1: layer 'data'" in lines[0]
                  and "is nan" in lines[0], log)
            check(os.path.exists(self.path(name + "_iter_1.caffemodel")), log)
            self.train(many, "--ranks", "2", "--check-nan", "--max-iter", "1")

    def eight(self):
        """Five and eight ranks are equivalent to one rank, like fewer ranks in values() of ranks.py."""
        random = numpy.random.RandomState(5)
        records = 7 * 8 * BATCH
        self.data = random.randn(records, 2, 6, 6).astype("f4")
        self.label = random.randint(0, 3, records).astype("f4")
        self.write("long", numpy.arange(records))
        many = self.compile("many", "long", flags=["--distributed"])
        for ranks in 5, 8:
            order = [(step * BATCH + row) * ranks + rank for step in range(7)
                     for rank in range(ranks) for row in range(BATCH)]
            self.write("order", order)
            one = self.compile("one", "order", "iter_size: %d" % ranks)
            self.train(one)
            self.train(many, "--ranks", str(ranks), "--deterministic")
            check(self.weights(one) == self.weights(many), "%d ranks" % ranks)


if __name__ == "__main__":
    main(Modes)
