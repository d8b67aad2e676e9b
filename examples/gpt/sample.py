#!/usr/bin/env python3
"""Continues a text by the characters that a trained net predicts.

usage: sample.py NET WEIGHTS [PROMPT [LENGTH [TEMPERATURE]]]

NET is the deploy net, which brewc --deploy writes. The characters are numbered as in TokenizedData:
make_text.py uses all printable ones.
"""
import sys

import caffe
import numpy as np

from make_text import CHARACTERS


def next_character(net, text, temperature, random):
    """Draws the character after a text from the net's distribution."""
    length = net.blobs["tokens"].shape[1]
    section = [CHARACTERS.index(c) for c in text[-length:]]
    # The zeros have no effect, because no position reads later ones.
    net.blobs["tokens"].data[0] = section + [0] * (length - len(section))
    net.blobs["positions"].data[0] = np.arange(length)
    net.forward()
    probabilities = net.blobs["prob"].data[0, len(section) - 1].astype(np.float64) ** (1 / temperature)
    return CHARACTERS[random.choice(len(CHARACTERS), p=probabilities / probabilities.sum())]


def main():
    prompt = sys.argv[3] if len(sys.argv) > 3 else "The "
    length = int(sys.argv[4]) if len(sys.argv) > 4 else 300
    temperature = float(sys.argv[5]) if len(sys.argv) > 5 else 0.8
    net = caffe.Net(sys.argv[1], sys.argv[2], caffe.TEST)
    random = np.random.RandomState(1)
    text = prompt
    for _ in range(length):
        text += next_character(net, text, temperature, random)
    print(text)


if __name__ == "__main__":
    main()
