"""Runs recurrent nets as captioning scripts of LRCN do: a word per forward(), whose state goes on where the
continuation indicator is 1, with an image as static input; compares with an LSTM in NumPy."""
import unittest

import caffe
import numpy as np

from common import Case, fill, random_array

WORDS, UNITS, EMBEDDING, FEATURES = 7, 5, 4, 3
NET = """name: 'captions'
layer { name: 'cont' type: 'Input' top: 'cont_sentence' input_param { shape { dim: %(steps)d dim: %(batch)d } } }
layer { name: 'words' type: 'Input' top: 'input_sentence' input_param { shape { dim: %(steps)d dim: %(batch)d } } }
layer { name: 'image' type: 'Input' top: 'image_features' input_param { shape { dim: %(batch)d dim: 3 } } }
layer { name: 'embedding' type: 'Embed' bottom: 'input_sentence' top: 'embedded'
  embed_param { input_dim: 7 num_output: 4 bias_term: false weight_filler { type: 'uniform' min: -0.1 max: 0.1 } } }
layer { name: 'lstm1' type: 'LSTM' bottom: 'embedded' bottom: 'cont_sentence' bottom: 'image_features' top: 'lstm1'
  recurrent_param { num_output: 5 weight_filler { type: 'uniform' min: -0.1 max: 0.1 } } }
layer { name: 'lstm2' type: 'LSTM' bottom: 'lstm1' bottom: 'cont_sentence' top: 'lstm2'
  recurrent_param { num_output: 5 weight_filler { type: 'uniform' min: -0.1 max: 0.1 } } }
layer { name: 'predict' type: 'InnerProduct' bottom: 'lstm2' top: 'predict'
  inner_product_param { num_output: 7 axis: 2 weight_filler { type: 'uniform' min: -0.1 max: 0.1 } } }
layer { name: 'probs' type: 'Softmax' bottom: 'predict' top: 'probs' softmax_param { axis: 2 } }
"""


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


class Reference:
    """The net in NumPy, with state."""

    def __init__(self, net, batch):
        self.params = {name: [blob.data.astype(float).copy() for blob in blobs] for name, blobs in net.params.items()}
        self.state = {name: np.zeros((2, batch, UNITS)) for name in ("lstm1", "lstm2")}

    def recur(self, name, x, cont, static=None):
        params = self.params[name]
        cell, hidden = self.state[name]
        gates = x @ params[0].T + params[1] + (hidden * cont[:, None]) @ params[-1].T
        if static is not None:
            gates = gates + static @ params[2].T
        i, f, o = (sigmoid(gates[:, k * UNITS: (k + 1) * UNITS]) for k in range(3))
        cell = cont[:, None] * f * cell + i * np.tanh(gates[:, 3 * UNITS:])
        hidden = o * np.tanh(cell)
        self.state[name] = np.stack([cell, hidden])
        return hidden

    def step(self, words, cont, image):
        embedded = self.params["embedding"][0][words]
        hidden = self.recur("lstm2", self.recur("lstm1", embedded, cont, image), cont)
        scores = hidden @ self.params["predict"][0].T + self.params["predict"][1]
        exponentials = np.exp(scores - scores.max(axis=1, keepdims=True))
        return exponentials / exponentials.sum(axis=1, keepdims=True)


class Captions(Case):
    def make_net(self, steps, batch, head="", phase=caffe.TEST):
        net = caffe.Net(self.write(head + NET % {"steps": steps, "batch": batch}), phase)
        fill(net, 6, 1)
        return net

    def test_one_word_at_a_time(self):
        """Greedy captions of a batch; afterwards the same net makes other captions."""
        net = self.make_net(1, 2)
        images = random_array(1, 2, FEATURES)
        for round_images in (images, -images):
            reference = Reference(net, 2)
            words = np.zeros(2, int)  # begin of sentence
            for step in range(8):
                cont = np.full(2, float(step > 0))
                net.forward(image_features=round_images, cont_sentence=cont[None], input_sentence=words[None])
                expected = reference.step(words, cont, round_images)
                self.close(net.blobs["probs"].data[0], expected, 1e-4)
                words = net.blobs["probs"].data[0].argmax(axis=1)

    def test_state_survives_with_a_backward_pass(self):
        """As above in nets whose backward pass is compiled too, by force_backward or in the training phase."""
        for head, phase in (("force_backward: true\n", caffe.TEST), ("force_backward: true\n", caffe.TRAIN),
                            ("", caffe.TRAIN)):
            with self.subTest(head=head, phase=phase):
                net = self.make_net(1, 2, head, phase)
                images, words = random_array(1, 2, FEATURES), np.array([1, 2])
                reference = Reference(net, 2)
                for step in range(4):
                    cont = np.full(2, float(step > 0))
                    net.forward(image_features=images, cont_sentence=cont[None], input_sentence=words[None])
                    self.close(net.blobs["probs"].data[0], reference.step(words, cont, images), 1e-4)

    def test_sequences_that_begin_at_several_steps(self):
        """A sequence of 6 steps and single steps compute the same; a 0 begins a new sentence."""
        cont = np.float32([[0, 0], [1, 1], [1, 0], [1, 1], [0, 1], [1, 1]])
        words = np.random.RandomState(3).randint(0, WORDS, (6, 2))
        images = random_array(2, 2, FEATURES)
        whole = self.make_net(6, 2)
        outputs = whole.forward(image_features=images, cont_sentence=cont, input_sentence=words)["probs"].copy()
        net = self.make_net(1, 2)
        reference = Reference(net, 2)
        for step in range(6):
            out = net.forward(image_features=images, cont_sentence=cont[step: step + 1],
                              input_sentence=words[step: step + 1])["probs"][0]
            self.close(out, reference.step(words[step], cont[step], images), 1e-4)
            self.close(out, outputs[step], 1e-5)

    def test_beams(self):
        """A beam search runs a batch of prefixes from their begin in each step; its best caption has the highest
        probability of all captions."""
        net = self.make_net(1, 2)
        image = random_array(4, 1, FEATURES)

        def score_words(prefix):
            """Returns the probabilities of the word after a prefix, without its first word 0."""
            net.blobs["image_features"].data[...] = image
            for step, word in enumerate([0, *prefix]):
                net.blobs["cont_sentence"].data[...] = float(step > 0)
                net.blobs["input_sentence"].data[...] = word
                net.forward()
            return net.blobs["probs"].data[0, 0].astype(float).copy()

        beams = [((), 1.0)]
        for _ in range(3):
            grown = [((*prefix, word), probability * p) for prefix, probability in beams
                     for word, p in enumerate(score_words(prefix))]
            beams = sorted(grown, key=lambda beam: -beam[1])[:40]
        reference = Reference(net, 1)
        best = (0, None)
        for a in range(WORDS):
            for b in range(WORDS):
                for c in range(WORDS):
                    probability = 1
                    for step, (word, following) in enumerate(zip((0, a, b), (a, b, c))):
                        probability *= reference.step([word], np.float64([step > 0]), image)[0, following]
                    best = max(best, (probability, (a, b, c)))
        self.assertEqual(beams[0][0], best[1])
        self.close(beams[0][1], best[0], 1e-4)

    def test_batch_sizes_change_between_images(self):
        """Scripts reshape the inputs to the number of prefixes."""
        net = self.make_net(1, 2)
        for batch in (3, 1, 4):
            images = random_array(batch, batch, FEATURES)
            net.blobs["image_features"].reshape(batch, FEATURES)
            net.blobs["cont_sentence"].reshape(1, batch)
            net.blobs["input_sentence"].reshape(1, batch)
            reference = Reference(net, batch)
            for step in range(3):
                words, cont = np.arange(batch) + step, np.full(batch, float(step > 0))
                net.forward(image_features=images, cont_sentence=cont[None], input_sentence=words[None])
                self.close(net.blobs["probs"].data[0], reference.step(words, cont, images), 1e-4)

    def test_training_learns_a_sentence(self):
        text = NET % {"steps": 5, "batch": 2}
        text = text[: text.index("layer { name: 'probs'")] + """
            layer { name: 'target' type: 'Input' top: 'target_sentence' input_param { shape { dim: 5 dim: 2 } } }
            layer { name: 'loss' type: 'SoftmaxWithLoss' bottom: 'predict' bottom: 'target_sentence' top: 'loss'
              loss_weight: 20 loss_param { ignore_label: -1 } softmax_param { axis: 2 } }"""
        self.write(text)
        solver = caffe.SGDSolver(self.write("net: '%s' base_lr: 0.05 momentum: 0.9 lr_policy: 'fixed' clip_gradients: 10 "
                                            "snapshot_prefix: 'x'" % self.path("net.prototxt"), "solver.prototxt"))
        net = solver.net
        fill(net, 6, 0.5)
        sentences = np.array([[1, 2, 3, 4, 0], [5, 6, 1, 0, -1]]).T
        images = random_array(8, 2, FEATURES)
        net.blobs["image_features"].data[...] = images
        net.blobs["cont_sentence"].data[...] = [[0, 0]] + [[1, 1]] * 4
        net.blobs["input_sentence"].data[...] = np.maximum(np.vstack([[0, 0], sentences[:-1]]), 0)
        net.blobs["target_sentence"].data[...] = sentences
        for _ in range(80):
            solver.step(1)
        scores = net.blobs["predict"].data.astype(float)
        logs = np.log(np.exp(scores).sum(axis=2)) - np.take_along_axis(scores, np.maximum(sentences, 0)[:, :, None], 2)[..., 0]
        self.close(net.blobs["loss"].data, logs[sentences >= 0].mean(), 1e-4)
        self.assertLess(float(net.blobs["loss"].data), 0.1)
        net.save(self.path("w.caffemodel"))
        deploy = caffe.Net(self.write(NET % {"steps": 1, "batch": 2}, "deploy.prototxt"), self.path("w.caffemodel"),
                           caffe.TEST)
        words, caption = np.zeros(2, int), []
        for step in range(5):
            deploy.forward(image_features=images, cont_sentence=np.full((1, 2), float(step > 0)),
                           input_sentence=words[None])
            words = deploy.blobs["probs"].data[0].argmax(axis=1)
            caption.append(words)
        caption = np.array(caption)
        np.testing.assert_array_equal(caption[sentences >= 0], sentences[sentences >= 0])


if __name__ == "__main__":
    unittest.main()
