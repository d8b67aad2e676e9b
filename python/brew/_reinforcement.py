"""Learners: sessions trained by what their nets do in environments."""
import functools
import math
import weakref

import numpy as np

from . import _core

__all__ = ["Learner"]


class _Environment:
    """Gymnasium's reset() and step() behind those of the extension, which has arrays written."""

    def __init__(self, environment):
        self._environment = environment
        space = getattr(environment, "observation_space", None)
        if space is None or not hasattr(getattr(environment, "action_space", None), "n"):
            raise TypeError("an environment has an observation_space and a discrete action_space, as "
                            "Gymnasium's have; %r has not" % (environment,))
        self.observations = int(math.prod(space.shape))
        self.actions = int(environment.action_space.n)
        self.low, self.high = (self._bound(space, name) for name in ("low", "high"))

    def _bound(self, space, name):
        bound = getattr(space, name, None)
        if bound is None:
            return []
        bound = np.broadcast_to(np.asarray(bound, np.float32), space.shape).ravel()
        return bound.tolist() if np.isfinite(bound).all() else []

    def reset(self, seed, observation):
        seen = self._environment.reset(seed=int(seed))
        observation[:] = np.ravel(seen[0] if isinstance(seen, tuple) else seen)

    def step(self, action, observation):
        outcome = self._environment.step(action)
        seen, reward, terminated = outcome[:3]
        truncated = outcome[3] if len(outcome) > 4 else False  # Gym's had four
        observation[:] = np.ravel(seen)
        return float(reward), bool(terminated), bool(truncated)

    def given(self):
        # The learner keeps this, not the library, which the collector cannot look into.
        return (weakref.proxy(self), self.observations, self.actions, self.low, self.high)


def _tell(learner, *episode):
    learner()._on_episode(*episode)


class Learner:
    """Trains a session by what its net does: policy gradients, PPO, A2C.

    `env`: the name of an environment of Brew's own ("cartpole"), one of Gymnasium's or anything
    with its reset(seed=...), step(), observation_space and action_space, or a function that
    makes one, which is called as often as the trainer needs one. `trainer` ("PG.ST", ...) and
    `properties` (a dict, or text as in the solver) go over the solver's
    custom_trainer_properties. `on_episode(agent, reward, steps)` is called after each episode."""

    def __init__(self, session, env, trainer="", properties=None, max_steps=0, on_episode=None):
        if properties is None:
            properties = ""
        elif not isinstance(properties, str):
            properties = ";".join("%s=%s" % item for item in properties.items())
        held = session.trainer
        count = _core.environment_count(held, trainer or "", properties)
        if callable(env) and not hasattr(env, "step"):
            environments = [env() for _ in range(count)]
        elif isinstance(env, (list, tuple)):
            environments = list(env)
        else:
            environments = [env] * count if isinstance(env, str) else [env]
        self._environments = [each if isinstance(each, str) else _Environment(each) for each in environments]
        self._on_episode = on_episode
        self._session = session  # stays as long as its trainer is used
        given = [each if isinstance(each, str) else each.given() for each in self._environments]
        told = None if on_episode is None else functools.partial(_tell, weakref.ref(self))
        self._core = _core.Learner(held, given, trainer or "", properties, max_steps, told)

    def train(self, episodes=0):
        """So many more episodes; 0: until the solver's max_iter updates."""
        self._core.train(episodes)

    def evaluate(self, episodes=10):
        """The mean reward of episodes that are not learnt from."""
        return self._core.evaluate(episodes)

    @property
    def progress(self):
        """episodes, steps, running_reward, mean_reward, maximum_reward, mean_entropy, collapsed."""
        return self._core.progress()

    def __repr__(self):
        now = self.progress
        return "<brew.Learner: %d episodes, mean reward %g>" % (now["episodes"], now["mean_reward"])
