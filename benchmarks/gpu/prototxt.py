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
    """Yields (kind, text) of each token. Raises ParseError."""
    position = 0
    while True:
        match = TOKEN.match(text, position)
        if not match:
            unread = re.sub(r"\#[^\n]*", "", text[position:]).strip()
            if unread:
                raise ParseError("cannot read: " + unread[:40])
            return
        position = match.end()
        yield match.lastgroup, match.group(match.lastgroup)


def value_of(kind, text):
    """Converts the text of a token to a string, boolean or number."""
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
    """Returns the message that `text` contains."""
    return parse_message(list(tokens(text)) + [("mark", "}")], [0])


def parse_message(items, cursor):
    """Parses the fields of a message up to its end. `items` are the tokens, and `cursor` is a list
    with the index of the next one."""
    result = {}
    while True:
        kind, name = items[cursor[0]]
        cursor[0] += 1
        if kind == "mark":
            if name in "}>":
                return result
            if name in ",;":
                continue
            raise ParseError("a field's name was expected, not '%s'" % name)
        kind, text = items[cursor[0]]
        cursor[0] += 1
        if (kind, text) == ("mark", ":"):
            kind, text = items[cursor[0]]
            cursor[0] += 1
        if (kind, text) == ("mark", "["):
            values = []
            while (items[cursor[0]]) != ("mark", "]"):
                if items[cursor[0]][0] != "mark":
                    values.append(value_of(*items[cursor[0]]))
                cursor[0] += 1
            cursor[0] += 1
            result.setdefault(name, []).extend(values)
        elif kind == "mark" and text in "{<":
            result.setdefault(name, []).append(parse_message(items, cursor))
        else:
            result.setdefault(name, []).append(value_of(kind, text))


def get(message, name, default=None):
    """Returns the value of a singular field (the last one, as in protobuf)."""
    return message[name][-1] if name in message else default


def layer_texts(text):
    """Yields the unchanged text of every layer of a net."""
    position = depth = 0
    begin = None
    while True:
        match = TOKEN.match(text, position)
        if not match:
            return
        position = match.end()
        token = match.group(match.lastgroup)
        if match.lastgroup == "word" and depth == 0:
            begin = match.start("word") if token == "layer" else None
        elif match.lastgroup == "mark" and token in "{<":
            depth += 1
        elif match.lastgroup == "mark" and token in "}>":
            depth -= 1
            if depth == 0 and begin is not None:
                yield text[begin:position]


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
