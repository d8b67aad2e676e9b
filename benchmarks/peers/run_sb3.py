#!/usr/bin/env python3
"""Runs Stable-Baselines3's PPO on Gymnasium's CartPole-v1, on the CPU, with the net, the
environments and the settings of examples/cartpole/ppo_solver.prototxt.

    run_sb3.py STEPS THREADS SEED     prints {"steps_per_second", "version"}: environment
        steps per second, including learning; counted from the second rollout on
"""
import json
import sys
import time

import gymnasium
import stable_baselines3
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import DummyVecEnv

ENVIRONMENTS = 8


class Clock(BaseCallback):
    """Records the start time and step count of the second rollout, which involves no setup."""
    rollouts, begin, steps = 0, 0.0, 0

    def _on_rollout_start(self):
        self.rollouts += 1
        if self.rollouts == 2:
            self.begin, self.steps = time.perf_counter(), self.num_timesteps

    def _on_step(self):
        return True


def main():
    steps, threads, seed = map(int, sys.argv[1:])
    torch.set_num_threads(threads)
    model = PPO("MlpPolicy", DummyVecEnv([lambda: gymnasium.make("CartPole-v1")] * ENVIRONMENTS),
                n_steps=32, batch_size=256, n_epochs=20, learning_rate=1e-3, gamma=.98, gae_lambda=.8,
                clip_range=.2, vf_coef=.25, ent_coef=0, max_grad_norm=.5, device="cpu", seed=seed,
                policy_kwargs={"net_arch": {"pi": [64, 64], "vf": [64, 64]},
                               "activation_fn": torch.nn.Tanh})
    clock = Clock()
    model.learn(steps, callback=clock)
    seconds = time.perf_counter() - clock.begin
    print(json.dumps({"steps_per_second": (model.num_timesteps - clock.steps) / seconds,
                      "version": stable_baselines3.__version__}))


main()
