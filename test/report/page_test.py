"""Checks that an HTML report is one well-formed page that contains all kernels and has no
external references.

usage: page_test.py BREWC SOURCE
"""
import json
import re
import sys
import tempfile

import pages


def check_page(name, brewc, arguments):
    text = pages.report(brewc, arguments, "html")
    assert not re.search(r"https?://", text), name + " has an external link"
    page = pages.Page(text)
    # The page has only two scripts, the data and the code, even if names of layers contain tags.
    assert len(page.scripts) == 2, (name, len(page.scripts))
    for tag, attribute in page.attributes:
        assert not attribute.startswith("on"), (name, tag, attribute)
        assert attribute != "src", (name, tag)
    tables = text[:text.index("<h2>Kernels")]
    assert re.search(r">\d+(\.\d+)? [kMG]?FLOP<", tables), name
    unreadable = re.search(r"\b\d{4,}(\.\d+)? ([kMGT]?(B|FLOP)|[mµnu]s)\b", tables)
    assert not unreadable, (name, unreadable.group())
    for link in page.links:
        assert link.startswith("#") and link[1:] in page.ids, (name, link)
    figures = json.loads(pages.report(brewc, arguments, "json"))
    programs = {program["name"]: program for program in page.data["programs"]}
    assert set(programs) == set(figures["programs"]), name
    assert len(page.kernels) >= sum(
        program["kernels"] for program in figures["programs"].values()), name
    for number, program in enumerate(page.data["programs"]):
        expected = figures["programs"][program["name"]]
        steps = [step.split(": ")[-1] for step in program["steps"]]
        assert len(steps) == (expected["kernels"] + expected["calls"]
                              + expected["host_calls"])
        for step in steps:
            if step.startswith("kernel "):
                symbol = step[len("kernel "):]
                # The page shows the name of the kernel and its code.
                assert any(kernel.split()[0] == symbol and kernel.count(symbol) > 1
                           for kernel in page.kernels.values()), (name, symbol)
        check_graph(name, program)
        for buffer in program["buffers"]:
            assert buffer["offset"] + buffer["size"] <= program["arena"], (name, buffer)
    return page


def check_graph(name, program):
    for phase in ("before", "after"):
        if phase not in program:
            continue
        graph = program[phase]
        for begin, end, shape, size in graph["edges"]:
            assert begin != end and max(begin, end) < len(graph["nodes"]), (name, phase)
            assert shape and size, (name, phase)
    # Exactly the nodes that became a kernel or a call have a time.
    for node in program["after"]["nodes"]:
        assert (node["kind"] in ("kernel", "call")) == ("time" in node), (name, node)
        assert (node["kind"] == "kernel") == ("kernel" in node), (name, node)


def check_concatenations(page):
    """Checks that in GoogLeNet's graph of kernels and calls, consumers of a concatenated blob have
    edges from all its branches."""
    graph = page.data["programs"][0]["after"]
    names = [node["name"] for node in graph["nodes"]]
    consumer = next(i for i, name in enumerate(names)
                    if name.startswith("inception_3b/3x3_reduce") and not graph["nodes"][i]["backward"])
    inputs = sorted(names[begin] for begin, end, *_ in graph["edges"] if end == consumer)
    assert len(inputs) >= 3 and all(name.startswith("inception_3a") for name in inputs), inputs


def main():
    brewc, source = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        for name, arguments in pages.nets(source, folder).items():
            page = check_page(name, brewc, arguments)
            kernels = "".join(page.kernels.values())
            if name == "evil":
                assert pages.EVIL in kernels and "<script>" in kernels, kernels
            if name == "googlenet":
                check_concatenations(page)
            if name.startswith("lenet"):
                # The page shows the lines of the prototxt and the code of each kernel.
                assert re.search(r"lenet_train_test\.prototxt:\d+\n?layer \{.*?pool1",
                                 kernels, re.DOTALL), kernels[:2000]
                assert ("BREW_KERNEL(" if "cuda" in name else "func.func") in kernels


main()
