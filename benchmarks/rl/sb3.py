#!/usr/bin/env python3
"""Compares the speed of Brew and Stable-Baselines3 in learning Cart-Pole: environment steps
per second, including learning.

Brew's PPO (examples/cartpole/ppo_solver.prototxt) and Stable-Baselines3's have the same
net (two times two layers of 64), 8 environments, 32 steps of each environment between
updates, and 20 epochs of 256 steps. Brew's PG.ST (softmax_solver.prototxt, one environment)
is measured, too. The programs run in turn in each round. Prints the medians, minima and
maxima, and the ratio of the two PPOs. Exits 1 if the ratio is below --required.
"""
import argparse
import json
import re
import statistics
import sys
from datetime import datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "benchmarks"))

import tables  # noqa: E402
from process import MeasureError, run  # noqa: E402

PEER = ROOT / "benchmarks/peers/run_sb3.py"
EXAMPLES = ROOT / "examples/cartpole"
EPISODE = re.compile(r"^I\d{4} (\d\d:\d\d:\d\d\.\d{6}) .*\] Episode \d+, .* steps = (\d+),", re.M)
# Environment steps, chosen so that all programs take about the same time.
STEPS = {"ppo": 100000, "softmax": 400000}


def brew_steps(log):
    """Returns the steps per second between the first and the last episode in the log."""
    episodes = [(datetime.strptime(time, "%H:%M:%S.%f"), int(steps))
                for time, steps in EPISODE.findall(log)]
    if len(episodes) < 2:
        raise MeasureError("brew-run displayed fewer than two episodes")
    seconds = (episodes[-1][0] - episodes[0][0]).total_seconds() % 86400  # past midnight
    if seconds <= 0:
        raise MeasureError("brew-run was too fast to be measured; use more steps")
    return (episodes[-1][1] - episodes[0][1]) / seconds


def brew(arguments, net, seed):
    """Trains in Brew for the number of updates that takes about STEPS steps. Returns the steps per
    second. The limit counts updates, because the episodes get longer while the policy learns."""
    steps = STEPS[net] if not arguments.quick else STEPS[net] // 10
    # PPO: 256 steps are 20 updates; PG.ST: an update is 10 episodes.
    updates = steps // 256 * 20 if net == "ppo" else steps // 1500
    log = run([arguments.bin / "brew-run", "train", net + ".plan", "--env", "cartpole",
               "--max-iter", updates, "--random-seed", seed, "--threads", 1, "--display", 10,
               "--snapshot-after-train", "false", "--snapshot-prefix", "none"],
              1, arguments.work_dir).stderr
    return brew_steps(log)


def peer(arguments, seed):
    """Trains in Stable-Baselines3. Returns the steps per second and its version."""
    steps = STEPS["ppo"] // (10 if arguments.quick else 1) // 4
    out = run([arguments.python, PEER, steps, arguments.threads, seed], arguments.threads,
              arguments.work_dir).stdout
    result = json.loads(out.strip().splitlines()[-1])
    return result["steps_per_second"], result["version"]


def measure(arguments):
    """Returns {name: steps per second of each round}, and the peer's version."""
    for net in STEPS:
        run([arguments.bin / "brewc", EXAMPLES / (net + "_solver.prototxt"), "-o", net + ".plan"],
            1, arguments.work_dir)
    rates, version = {}, ""
    for seed in range(1, arguments.rounds + 1):
        rates.setdefault("Brew, PPO", []).append(brew(arguments, "ppo", seed))
        rate, version = peer(arguments, seed)
        rates.setdefault("Stable-Baselines3, PPO", []).append(rate)
        rates.setdefault("Brew, PG.ST", []).append(brew(arguments, "softmax", seed))
    return rates, version


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", required=True, type=Path,
                        help="interpreter with stable-baselines3 and gymnasium")
    parser.add_argument("--bin", type=Path, default=ROOT / "build/release/bin")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1,
                        help="threads of the peer")
    parser.add_argument("--required", type=float, default=5, help="minimum ratio of the two PPOs")
    parser.add_argument("--quick", action="store_true", help="a tenth of the steps")
    parser.add_argument("--work-dir", type=Path, default=ROOT / "build/benchmarks")
    parser.add_argument("--markdown", action="store_true", help="print a Markdown table")
    arguments = parser.parse_args()
    for name in ("bin", "work_dir"):
        setattr(arguments, name, getattr(arguments, name).resolve())
    arguments.python = arguments.python.absolute()  # a virtual environment has a link
    return arguments


def main():
    arguments = parse_arguments()
    try:
        arguments.work_dir.mkdir(parents=True, exist_ok=True)
        rates, version = measure(arguments)
    except (MeasureError, OSError, ValueError, KeyError) as error:
        print("sb3.py: {}".format(error), file=sys.stderr)
        return 1
    rows = [[name] + ["{:.0f}".format(value) for value in
                      (statistics.median(round_rates), min(round_rates), max(round_rates))]
            for name, round_rates in rates.items()]
    print("\n".join(tables.render(["", "median steps/s", "min", "max"], rows, arguments.markdown)))
    ratio = statistics.median(ours / theirs for ours, theirs in
                              zip(rates["Brew, PPO"], rates["Stable-Baselines3, PPO"]))
    print("Brew's PPO takes {:.1f} times the steps per second of Stable-Baselines3 {} (required: {:g})".format(
        ratio, version, arguments.required))
    return ratio < arguments.required


if __name__ == "__main__":
    sys.exit(main())
