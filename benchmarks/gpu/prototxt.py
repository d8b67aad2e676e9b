"""Parses prototxt text into dictionaries, without a schema.

The value of every field is a list of numbers, booleans, strings (also for enum names) or
dictionaries. Suits nets that Caffe and Brew have already checked.
"""

import re

TOKEN = re.compile(r"""\s*(?:\#[^\n]*\s*)*
    (?: (?P<string>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
      | (?P<word>[-+]?[A-Za-z0-9_.][-+A-Za-z0-9_./]*)
      | (?P<mark>[{}:;,<>\[\]]) )""", re.VERBOSE)


class ParseError(Exception):
    """The text is not valid prototxt."""


def tokens(text):
    place = 0
    while True:
        match = TOKEN.match(text, place)
        if not match:
            rest = re.sub(r"\#[^\n]*", "", text[place:]).strip()
            if rest:
                raise ParseError("cannot read: " + rest[:40])
            return
        place = match.end()
        yield match.lastgroup, match.group(match.lastgroup)


def value_of(kind, text):
    if kind == "string":
        return text[1:-1]
    if text in ("true", "false"):
        return text == "true"
    for convert in (int, float):
        try:
            return convert(text)
        except ValueError:
            pass
    return text


def parse(text):
    """Returns the message of `text`."""
    return message(list(tokens(text)) + [("mark", "}")], [0])


def message(items, at):
    result = {}
    while True:
        kind, name = items[at[0]]
        at[0] += 1
        if kind == "mark":
            if name in "}>":
                return result
            if name in ",;":
                continue
            raise ParseError("a field's name was expected, not '%s'" % name)
        kind, text = items[at[0]]
        at[0] += 1
        if (kind, text) == ("mark", ":"):
            kind, text = items[at[0]]
            at[0] += 1
        if (kind, text) == ("mark", "["):
            values = []
            while (items[at[0]]) != ("mark", "]"):
                if items[at[0]][0] != "mark":
                    values.append(value_of(*items[at[0]]))
                at[0] += 1
            at[0] += 1
            result.setdefault(name, []).extend(values)
        elif kind == "mark" and text in "{<":
            result.setdefault(name, []).append(message(items, at))
        else:
            result.setdefault(name, []).append(value_of(kind, text))


def get(message, name, default=None):
    """Returns the value of a singular field (the last one, as in protobuf)."""
    return message[name][-1] if name in message else default


def layer_texts(text):
    """Yields the unchanged text of every layer of a net."""
    place = depth = 0
    begin = None
    while True:
        match = TOKEN.match(text, place)
        if not match:
            return
        place = match.end()
        token = match.group(match.lastgroup)
        if match.lastgroup == "word" and depth == 0:
            begin = match.start("word") if token == "layer" else None
        elif match.lastgroup == "mark" and token in "{<":
            depth += 1
        elif match.lastgroup == "mark" and token in "}>":
            depth -= 1
            if depth == 0 and begin is not None:
                yield text[begin:place]


def layers_of(net, phase):
    """Yields the layers of a net that a phase ("TRAIN", "TEST") includes."""
    def applies(rule):
        return get(rule, "phase", phase) == phase
    for layer in net.get("layer", []):
        included = layer.get("include", [])
        excluded = layer.get("exclude", [])
        if included and not any(applies(rule) for rule in included):
            continue
        if excluded and any(applies(rule) for rule in excluded):
            continue
        yield layer
