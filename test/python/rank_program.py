"""Trains on several ranks like Caffe's python/train.py: multiprocessing starts a process for each
rank, or mpirun starts this program once per rank.

    rank_program.py SOLVER RANKS [--method fork|spawn] [--snapshot STATE] [--timing]
        [--dump FILE] [--fail RANK:MODE]

--dump writes the parameters of each rank to FILE.RANK.npz. --fail makes a rank fail: MODE is "solver"
(other solver settings), "raise" (an exception in a callback) or "kill" (SIGKILL at iteration 2).
--timing prints the layers of the backward pass and when the gradients were complete."""
import argparse
import multiprocessing
import os
import signal
import sys

import caffe
import numpy as np


def train_rank(options, uid, rank):
    caffe.set_mode_cpu()
    caffe.set_solver_count(options.ranks)
    caffe.set_solver_rank(rank)
    caffe.set_multiprocess(True)
    fail_mode = options.fail.split(":")[1] if options.fail.startswith("%d:" % rank) else ""
    if fail_mode == "solver":
        changed_solver = options.solver + ".other"
        with open(options.solver) as file, open(changed_solver, "w") as changed_file:
            changed_file.write(file.read() + " gamma: 0.25")
        options.solver = changed_solver
    solver = caffe.get_solver(options.solver)
    if options.snapshot:
        solver.restore(options.snapshot)
    nccl = caffe.NCCL(solver, uid)
    nccl.bcast()
    on_gradients_ready = lambda: None  # noqa: E731
    if fail_mode == "raise":
        def on_gradients_ready():
            raise ValueError("a rank's own mistake")
    elif fail_mode == "kill":
        def on_gradients_ready():
            if solver.iter == 2:
                os.kill(os.getpid(), signal.SIGKILL)
    if fail_mode in ("raise", "kill"):
        solver.add_callback(lambda: None, on_gradients_ready)
    if options.timing and rank == 0:
        events = []
        solver.net.after_backward(events.append)
        solver.add_callback(events.clear, lambda: events.append("before"))
        solver.add_callback(nccl)
        solver.add_callback(lambda: None, lambda: print("backward", events, flush=True))
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
        return train_rank(options, uid, int(os.environ["OMPI_COMM_WORLD_RANK"]))
    context = multiprocessing.get_context(options.method)
    processes = [context.Process(target=train_rank, args=(options, uid, rank), daemon=True)
                 for rank in range(options.ranks)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    return int(any(process.exitcode for process in processes))


if __name__ == "__main__":
    sys.exit(main())
