"""Tests brew.Learner with environments written in Python."""
import gc
import os
import signal
import unittest
import weakref

import numpy as np

import brew

NET = """base_lr: 0.05 lr_policy: 'fixed' max_iter: 1000 random_seed: 1 snapshot_after_train: false
snapshot_prefix: 'learner' net_param {
  layer { name: 'in' type: 'MemoryData' top: 's'
          memory_data_param { batch_size: 32 channels: 3 height: 1 width: 1 label_type: NONE } }
  layer { name: 'ip' type: 'InnerProduct' bottom: 's' top: 'logits'
          inner_product_param { num_output: 2 weight_filler { type: 'gaussian' std: 0.01 } } }
  layer { name: 'loss' type: 'MemoryLoss' bottom: 'logits' top: 'loss' } }"""


class Space:
    """A space of Gymnasium: a box with a shape, or n discrete values."""

    def __init__(self, shape=None, n=None):
        self.shape, self.n = shape, n


class Guess:
    """An environment with Gymnasium's interface: guess the sign of the first number, ten times."""
    observation_space, action_space = Space(shape=(3,)), Space(n=2)

    def __init__(self):
        self.seeds = []

    def _observe(self):
        self.state = self.random.uniform(-1, 1, 3)
        return self.state

    def reset(self, seed=None):
        self.seeds.append(seed)
        self.random = np.random.default_rng(seed)
        self.steps = 0
        return self._observe(), {}

    def step(self, action):
        reward = float(action == (self.state[0] > 0))
        self.steps += 1
        return self._observe(), reward, False, self.steps == 10, {}


def make_session():
    return brew.compile(NET).session(seed=1, threads=1)


class LearningTest(unittest.TestCase):
    def test_training_increases_the_reward(self):
        env, episodes = Guess(), []
        # Gamma is 0: the right action does not depend on later rewards.
        learner = brew.Learner(make_session(), env, "PG.ST", {"MiniBatch": 2, "UseRawInput": True, "Gamma": 0},
                               on_episode=lambda *episode: episodes.append(episode))
        before = learner.evaluate(20)
        learner.train(200)
        self.assertGreater(learner.evaluate(20), before + 2)
        self.assertGreater(learner.progress["mean_reward"], 7)
        self.assertEqual(len(episodes), 200)
        self.assertEqual(episodes[0][0], 0)
        self.assertEqual({steps for _, _, steps in episodes}, {10})
        # 200 seeds of training, and 20 seeds that both evaluations use.
        self.assertEqual(len(set(env.seeds)), 220)
        self.assertIn("200 episodes", repr(learner))

    def test_agents_have_environments_of_their_own(self):
        environments = []

        def make_environment():
            environments.append(Guess())
            return environments[-1]
        learner = brew.Learner(make_session(), make_environment, "PG.MT", "Threads=2;EpisodeBatchSize=2;UseRawInput=True")
        learner.train(20)
        self.assertEqual(len(environments), 2)
        self.assertGreaterEqual(learner.progress["episodes"], 20)
        self.assertTrue(all(environment.seeds for environment in environments))

    def test_numbers_may_be_arrays_of_one_element(self):
        class Arrays(Guess):
            def step(self, action):
                observation, reward, terminated, truncated, info = super().step(action)
                return observation[np.newaxis], np.array([reward]), np.array([terminated]), np.bool_(truncated), info
        learner = brew.Learner(make_session(), Arrays(), "PG.ST", {"UseRawInput": True})
        learner.train(2)
        self.assertEqual(learner.progress["steps"], 20)

    def test_exceptions_propagate_unchanged(self):
        class Broken(Guess):
            def step(self, action):
                raise KeyError("stuck")
        learner = brew.Learner(make_session(), Broken(), "PG.ST")
        with self.assertRaises(KeyError):
            learner.train(1)

        def fail(*episode):
            raise ZeroDivisionError
        learner = brew.Learner(make_session(), Guess(), "PG.ST", on_episode=fail)
        with self.assertRaises(ZeroDivisionError):
            learner.train(50)

    def test_exceptions_of_handlers_and_listeners_end_training(self):
        """Raises exceptions in a signal handler, while no Python code runs, and in a listener."""
        def handler(*arguments):
            raise LookupError("stop")

        self.addCleanup(signal.signal, signal.SIGINT, signal.signal(signal.SIGINT, handler))
        session = brew.compile(NET.replace("channels: 3", "channels: 4")).session(seed=1, threads=1)
        learner = brew.Learner(session, "cartpole", "PG.ST", "MiniBatch=1")
        session.add_hook("after 3 iterations do call in background", lambda call: os.kill(os.getpid(), signal.SIGINT))
        with self.assertRaisesRegex(LookupError, "stop"):
            learner.train(10 ** 8)
        episodes = learner.progress["episodes"]
        self.assertGreater(episodes, 0)
        learner.train(2)
        self.assertEqual(learner.progress["episodes"], episodes + 2)

        def fail(event):
            raise ZeroDivisionError

        stop = session.events.listen(fail, "iteration")
        with self.assertRaises(ZeroDivisionError):
            learner.train(10)
        stop()
        self.assertLess(learner.progress["episodes"], episodes + 12)
        learner.train(1)

    def test_reference_cycles_are_freed(self):
        """The garbage collector frees a learner and its session although environments and callbacks refer to it."""
        def train(trainer, properties, count):
            session, listener = make_session(), lambda *event: None
            session._core.add_listener(listener, [])  # the C++ session refers to the listener
            environments = [Guess() for _ in range(count)]
            learner = brew.Learner(session, environments, trainer, properties,
                                   on_episode=lambda *episode: counts.append(learner.progress["episodes"]))
            for env in environments:
                env.learner = learner
            counts = []
            learner.train(4)
            self.assertGreaterEqual(len(counts), 4)
            return [weakref.ref(target) for target in (learner, session, listener, *environments)]

        for arguments in (("PG.ST", "", 1), ("PG.MT", "Threads=2", 2)):
            references = train(*arguments)
            gc.collect()
            self.assertEqual([reference() for reference in references], [None] * len(references), arguments)

    def test_wrong_trainers_and_environments_raise(self):
        with self.assertRaisesRegex(brew.Error, "there is no trainer 'PG.XX'"):
            brew.Learner(make_session(), Guess(), "PG.XX")
        with self.assertRaisesRegex(brew.Error, "no input of rows of 4 numbers"):
            brew.Learner(make_session(), "cartpole", "PG.ST")
        with self.assertRaises(TypeError):
            brew.Learner(make_session(), object(), "PG.ST")


if __name__ == "__main__":
    unittest.main()
