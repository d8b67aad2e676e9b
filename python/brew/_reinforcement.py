"""Reinforcement learning: sessions that learn by acting in environments."""
import functools
import math
import weakref

import numpy as np

from . import _core

__all__ = ["Learner"]


class _Environment:
    """Adapts Gymnasium's reset() and step() to the extension, which passes arrays to write to."""

    def __init__(self, environment):
        self._environment = environment
        space = getattr(environment, "observation_space", None)
        if space is None or not hasattr(getattr(environment, "action_space", None), "n"):
            raise TypeError("an environment needs an observation_space and a discrete action_space, as in "
                            "Gymnasium; %r has none" % (environment,))
        self.observations = int(math.prod(space.shape))
        self.actions = int(environment.action_space.n)
        self.low, self.high = (self._bound(space, name) for name in ("low", "high"))

    def _bound(self, space, name):
        """Returns the bounds of the observations, or an empty list if one is missing or infinite."""
        bound = getattr(space, name, None)
        if bound is None:
            return []
        bound = np.broadcast_to(np.asarray(bound, np.float32), space.shape).ravel()
        return bound.tolist() if np.isfinite(bound).all() else []

    def reset(self, seed, observation):
        result = self._environment.reset(seed=int(seed))
        observation[:] = np.ravel(result[0] if isinstance(result, tuple) else result)

    def step(self, action, observation):
        outcome = self._environment.step(action)
        values, reward, terminated = outcome[:3]
        truncated = outcome[3] if len(outcome) > 4 else False  # Gym returned four values
        observation[:] = np.ravel(values)
        # Some environments return arrays of one element, which float() does not convert from NumPy 2.4 on.
        return float(reward.item() if hasattr(reward, "item") else reward), bool(terminated), bool(truncated)

    def core_arguments(self):
        # Pass a weak reference: the garbage collector cannot traverse references from the library.
        return (weakref.proxy(self), self.observations, self.actions, self.low, self.high)


def _report_episode(learner, *episode):
    learner()._on_episode(*episode)


class Learner:
    """Trains a session by reinforcement learning: policy gradients, PPO, A2C.

    `env` is the name of a built-in environment ("cartpole"), a Gymnasium environment or any
    object with reset(seed=...), step(), observation_space and action_space, or a function that
    creates one, which is called for each environment that the trainer needs. `trainer`
    ("PG.ST", ...) and `properties` (a dict, or text as in the solver) override the solver's
    custom_trainer_properties. `on_episode(agent, reward, steps)` is called after each episode."""

    def __init__(self, session, env, trainer="", properties=None, max_steps=0, on_episode=None):
        if properties is None:
            properties = ""
        elif not isinstance(properties, str):
            properties = ";".join("%s=%s" % item for item in properties.items())
        core_trainer = session.trainer
        count = _core.environment_count(core_trainer, trainer or "", properties)
        if callable(env) and not hasattr(env, "step"):
            environments = [env() for _ in range(count)]
        elif isinstance(env, (list, tuple)):
            environments = list(env)
        else:
            environments = [env] * count if isinstance(env, str) else [env]
        self._environments = [item if isinstance(item, str) else _Environment(item) for item in environments]
        self._on_episode = on_episode
        self._session = session  # must outlive its trainer
        core_envs = [item if isinstance(item, str) else item.core_arguments() for item in self._environments]
        episode_callback = None if on_episode is None else functools.partial(_report_episode, weakref.ref(self))
        self._core = _core.Learner(core_trainer, core_envs, trainer or "", properties, max_steps,
                                   episode_callback)

    def train(self, episodes=0):
        """Trains for `episodes` more episodes; 0: until the solver's max_iter updates."""
        self._core.train(episodes)

    def evaluate(self, episodes=10):
        """Plays episodes without learning from them and returns the mean reward."""
        return self._core.evaluate(episodes)

    @property
    def progress(self):
        """A dict of episodes, steps, running_reward, mean_reward, maximum_reward, mean_entropy, collapsed."""
        return self._core.progress()

    def __repr__(self):
        progress = self.progress
        return "<brew.Learner: %d episodes, mean reward %g>" % (progress["episodes"], progress["mean_reward"])
