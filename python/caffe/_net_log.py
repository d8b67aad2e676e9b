"""Caffe's log of the creation of nets."""
from . import _log


def log_solver(solver):
    """Logs the creation of a solver's nets."""
    p = solver.param
    for field, line, text in (("train_net_param", 73, "specified in train_net_param."), ("train_net", 77, None),
                              ("net_param", 82, "specified in net_param."), ("net", 87, None)):
        if p.HasField(field):
            _log.line("Creating training net " + (text or "from %s file: %s" % (field, getattr(p, field))),
                      "solver.cpp", line)
    log_net(solver.net)
    sources = ["test_net_param" for _ in p.test_net_param] + ["test_net file: " + path for path in p.test_net]
    shared = "net_param" if p.HasField("net_param") else "net file: " + p.net
    for number, net in enumerate(solver.test_nets):
        source = sources[number] if number < len(sources) else shared
        _log.line("Creating test net (#%d) specified by %s" % (number, source), "solver.cpp", 172)
        log_net(net)
    _log.line("Solver scaffolding done.", "solver.cpp", 56)


def log_net(net):
    """Logs the layers of a net: bottoms, tops, shapes, and whether they have a backward pass."""
    memory = 0
    for number, name in enumerate(net._layer_names):
        _log.line("Creating layer " + name, "layer_factory.hpp", 77)
        _log.line("Creating Layer " + name, "net.cpp", 84)
        bottoms, tops = net.bottom_names[name], net.top_names[name]
        for bottom in bottoms:
            _log.line("%s <- %s" % (name, bottom), "net.cpp", 406)
        for i, top in enumerate(tops):
            if bottoms[i: i + 1] == [top]:
                _log.line("%s -> %s (in-place)" % (name, top), "net.cpp", 367)
            else:
                _log.line("%s -> %s" % (name, top), "net.cpp", 380)
        _log.line("Setting up " + name, "net.cpp", 122)
        for top in tops:
            blob = net.blobs[top]
            _log.line("Top shape: %s(%d)" % ("".join("%d " % d for d in blob.shape), blob.count), "net.cpp", 129)
            if net.blob_loss_weights[top]:
                _log.line("    with loss weight %g" % net.blob_loss_weights[top], "net.cpp", 132)
            memory += 4 * blob.count
        _log.line("Memory required for data: %d" % memory, "net.cpp", 137)
    for name, needs_backward in reversed(list(zip(net._layer_names, net._layer_needs))):
        if needs_backward:
            _log.line(name + " needs backward computation.", "net.cpp", 198)
        else:
            _log.line(name + " does not need backward computation.", "net.cpp", 200)
    for output in net.outputs:
        _log.line("This network produces output " + output, "net.cpp", 242)
    _log.line("Network initialization done.", "net.cpp", 255)
