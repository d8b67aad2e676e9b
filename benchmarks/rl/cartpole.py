#!/usr/bin/python3
"""Trains Cart-Pole with every learner and several seeds. Measures the episode in which the mean
reward of the last 100 episodes first reaches a threshold, and the steps per second.

usage: cartpole.py --bin BUILD/bin [--seeds 10] [--nets sigmoid,softmax,ppo] [--jobs 1]

Prints one table; exits 1 if fewer seeds than required reach a threshold in time.
"""
import argparse
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile
import time

EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../examples/cartpole")
EPISODE = re.compile(r"Episode (\d+), .* mean of (\d+) = ([-\d.e+]+), .* steps = (\d+),")

# Threshold, limit of episodes, and how many of ten seeds must reach it.
NETS = {
    "sigmoid": [(195, 1000, 8), (475, 2500, 0)],
    "softmax": [(195, 1000, 8), (475, 2500, 0)],
    "ppo": [(195, 1500, 10), (475, 1500, 10)],
}


def run(binaries, plan, seed, episodes, threshold, folder):
    """Trains until the run reaches the threshold. Returns its curve (episodes done, mean of the
    last 100, steps) and its seconds."""
    command = [os.path.join(binaries, "brew-run"), "train", plan, "--env", "cartpole", "--episodes",
               str(episodes), "--random-seed", str(seed), "--display", "1", "--threads", "1",
               "--snapshot-after-train", "false", "--snapshot-prefix", os.path.join(folder, "x")]
    curve, tail, begin = [], [], None
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        for line in process.stderr:
            tail = tail[-20:] + [line]
            match = EPISODE.search(line)
            if not match:
                continue
            begin = begin or time.time()
            curve.append((int(match[1]), int(match[2]), float(match[3]), int(match[4])))
            if reached(curve[-1:], threshold):
                process.terminate()
                break
        process.stderr.close()
    if not curve:
        sys.exit("".join(tail))
    return curve, max(time.time() - begin, 1e-3)


def reached(curve, threshold):
    """Returns the first episode in which the mean of 100 episodes reaches `threshold`, or None."""
    for episode, window, mean, _ in curve:
        if window == 100 and mean >= threshold:
            return episode
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--nets", default=",".join(NETS))
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--json", help="write all measurements to this file")
    arguments = parser.parse_args()
    failed, measurements = False, {}
    print("| net | bar | in episodes | seeds | fewest | median | most | steps/s |")
    print("|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for net in arguments.nets.split(","):
            plan = os.path.join(folder, net + ".plan")
            subprocess.run([os.path.join(arguments.bin, "brewc"),
                            os.path.join(EXAMPLES, net + "_solver.prototxt"), "-o", plan], check=True)
            episode_limit = max(limit for _, limit, _ in NETS[net])
            highest_threshold = max(threshold for threshold, _, _ in NETS[net])
            with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
                runs = list(pool.map(
                    lambda seed: run(arguments.bin, plan, seed, episode_limit, highest_threshold, folder),
                    range(1, arguments.seeds + 1)))
            speed = sorted(curve[-1][3] / seconds for curve, seconds in runs)[len(runs) // 2]
            for threshold, limit, required_seeds in NETS[net]:
                episodes_needed = [reached(curve, threshold) for curve, _ in runs]
                in_time = sorted(w for w in episodes_needed if w is not None and w <= limit)
                measurements[f"{net} {threshold}"] = episodes_needed
                fewest, median, most = ((in_time[0], in_time[len(in_time) // 2], in_time[-1])
                                        if in_time else ("-", "-", "-"))
                print(f"| {net} | {threshold} | {limit} | {len(in_time)} of {len(runs)} | {fewest} | {median} "
                      f"| {most} | {speed:.0f} |", flush=True)
                failed |= len(in_time) * 10 < required_seeds * len(runs)
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump(measurements, file)
    return failed


if __name__ == "__main__":
    sys.exit(main())
