"""Trains on several ranks like Caffe's python/train.py: multiprocessing starts a process for each
rank, or mpirun starts this program once per rank.

    rank_program.py SOLVER RANKS [--method fork|spawn] [--snapshot STATE] [--timing]
        [--dump FILE] [--fail RANK:HOW]

Writes the parameters of all ranks to FILE."""
import argparse
import multiprocessing
import os
import signal
import sys

import caffe
import numpy as np


def solve(options, uid, rank):
    caffe.set_mode_cpu()
    caffe.set_solver_count(options.ranks)
    caffe.set_solver_rank(rank)
    caffe.set_multiprocess(True)
    how = options.fail.split(":")[1] if options.fail.startswith("%d:" % rank) else ""
    if how == "solver":
        other = options.solver + ".other"
        with open(options.solver) as file, open(other, "w") as changed:
            changed.write(file.read() + " gamma: 0.25")
        options.solver = other
    solver = caffe.get_solver(options.solver)
    if options.snapshot:
        solver.restore(options.snapshot)
    nccl = caffe.NCCL(solver, uid)
    nccl.bcast()
    ready = lambda: None  # noqa: E731
    if how == "raise":
        def ready():
            raise ValueError("a rank's own mistake")
    elif how == "kill":
        def ready():
            if solver.iter == 2:
                os.kill(os.getpid(), signal.SIGKILL)
    if how in ("raise", "kill"):
        solver.add_callback(lambda: None, ready)
    if options.timing and rank == 0:
        seen = []
        solver.net.after_backward(seen.append)
        solver.add_callback(seen.clear, lambda: seen.append("before"))
        solver.add_callback(nccl)
        solver.add_callback(lambda: None, lambda: print("backward", seen, flush=True))
    else:
        solver.add_callback(nccl)
    if solver.param.layer_wise_reduce:
        solver.net.after_backward(nccl)
    solver.step(solver.param.max_iter - solver.iter)
    if options.dump:
        np.savez("%s.%d" % (options.dump, rank), **{
            "%s_%d" % (name, i): blob.data for name, blobs in solver.net.params.items()
            for i, blob in enumerate(blobs)})
    print("rank %d has done %d iterations" % (rank, solver.iter), flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("solver")
    parser.add_argument("ranks", type=int)
    parser.add_argument("--method", default="fork")
    parser.add_argument("--snapshot")
    parser.add_argument("--timing", action="store_true")
    parser.add_argument("--dump")
    parser.add_argument("--fail", default="")
    options = parser.parse_args()
    uid = caffe.NCCL.new_uid()
    if "OMPI_COMM_WORLD_RANK" in os.environ:
        return solve(options, uid, int(os.environ["OMPI_COMM_WORLD_RANK"]))
    context = multiprocessing.get_context(options.method)
    processes = [context.Process(target=solve, args=(options, uid, rank), daemon=True)
                 for rank in range(options.ranks)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    return int(any(process.exitcode for process in processes))


if __name__ == "__main__":
    sys.exit(main())
