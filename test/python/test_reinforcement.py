"""brew.Learner: learning in environments written in Python."""
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
    def __init__(self, shape=None, n=None):
        self.shape, self.n = shape, n


class Guess:
    """An environment with Gymnasium's interface: guess the sign of the first number, ten times."""
    observation_space, action_space = Space(shape=(3,)), Space(n=2)

    def __init__(self):
        self.seeds = []

    def _see(self):
        self.state = self.random.uniform(-1, 1, 3)
        return self.state

    def reset(self, seed=None):
        self.seeds.append(seed)
        self.random = np.random.default_rng(seed)
        self.steps = 0
        return self._see(), {}

    def step(self, action):
        reward = float(action == (self.state[0] > 0))
        self.steps += 1
        return self._see(), reward, False, self.steps == 10, {}


def session():
    return brew.compile(NET).session(seed=1, threads=1)


class LearningTest(unittest.TestCase):
    def test_learns(self):
        env, seen = Guess(), []
        # Gamma is 0: the right action does not depend on later rewards.
        learner = brew.Learner(session(), env, "PG.ST", {"MiniBatch": 2, "UseRawInput": True, "Gamma": 0},
                               on_episode=lambda *episode: seen.append(episode))
        before = learner.evaluate(20)
        learner.train(200)
        self.assertGreater(learner.evaluate(20), before + 2)
        self.assertGreater(learner.progress["mean_reward"], 7)
        self.assertEqual(len(seen), 200)
        self.assertEqual(seen[0][0], 0)
        self.assertEqual({steps for _, _, steps in seen}, {10})
        # evaluate() always uses the same twenty seeds.
        self.assertEqual(len(set(env.seeds)), 220)
        self.assertIn("200 episodes", repr(learner))

    def test_agents_have_environments_of_their_own(self):
        made = []

        def make():
            made.append(Guess())
            return made[-1]
        learner = brew.Learner(session(), make, "PG.MT", "Threads=2;EpisodeBatchSize=2;UseRawInput=True")
        learner.train(20)
        self.assertEqual(len(made), 2)
        self.assertGreaterEqual(learner.progress["episodes"], 20)
        self.assertTrue(all(each.seeds for each in made))

    def test_exceptions_come_out_as_they_are(self):
        class Broken(Guess):
            def step(self, action):
                raise KeyError("stuck")
        learner = brew.Learner(session(), Broken(), "PG.ST")
        with self.assertRaises(KeyError):
            learner.train(1)

        def tell(*episode):
            raise ZeroDivisionError
        learner = brew.Learner(session(), Guess(), "PG.ST", on_episode=tell)
        with self.assertRaises(ZeroDivisionError):
            learner.train(50)

    def test_exceptions_of_others_come_out_at_once(self):
        """Exceptions of a listener, and of a signal handler while no Python code runs."""
        def handler(*about):
            raise LookupError("stop")

        self.addCleanup(signal.signal, signal.SIGINT, signal.signal(signal.SIGINT, handler))
        learns = brew.compile(NET.replace("channels: 3", "channels: 4")).session(seed=1, threads=1)
        learner = brew.Learner(learns, "cartpole", "PG.ST", "MiniBatch=1")
        learns.add_hook("after 3 iterations do call in background", lambda call: os.kill(os.getpid(), signal.SIGINT))
        with self.assertRaisesRegex(LookupError, "stop"):
            learner.train(10 ** 8)
        done = learner.progress["episodes"]
        self.assertGreater(done, 0)
        learner.train(2)
        self.assertEqual(learner.progress["episodes"], done + 2)

        def tell(event):
            raise ZeroDivisionError

        stop = learns.events.listen(tell, "iteration")
        with self.assertRaises(ZeroDivisionError):
            learner.train(10)
        stop()
        self.assertLess(learner.progress["episodes"], done + 12)
        learner.train(1)

    def test_goes_where_only_its_own_know_it(self):
        """The garbage collector frees a learner and its session although environments and callbacks refer to it."""
        def made(trainer, properties, count):
            learns, heard = session(), lambda *event: None
            learns._core.add_listener(heard, [])  # the C++ session refers to it
            environments = [Guess() for _ in range(count)]
            learner = brew.Learner(learns, environments, trainer, properties,
                                   on_episode=lambda *episode: seen.append(learner.progress["episodes"]))
            for env in environments:
                env.learner = learner
            seen = []
            learner.train(4)
            self.assertGreaterEqual(len(seen), 4)
            return [weakref.ref(each) for each in (learner, learns, heard, *environments)]

        for given in (("PG.ST", "", 1), ("PG.MT", "Threads=2", 2)):
            gone = made(*given)
            gc.collect()
            self.assertEqual([each() for each in gone], [None] * len(gone), given)

    def test_shape_mismatch_is_reported(self):
        with self.assertRaisesRegex(brew.Error, "there is no trainer 'PG.XX'"):
            brew.Learner(session(), Guess(), "PG.XX")
        with self.assertRaisesRegex(brew.Error, "no input of rows of 4 numbers"):
            brew.Learner(session(), "cartpole", "PG.ST")
        with self.assertRaises(TypeError):
            brew.Learner(session(), object(), "PG.ST")


if __name__ == "__main__":
    unittest.main()
