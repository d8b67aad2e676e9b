"""Shapes and programs of many layers at once.

Layers are set up and run one by one, but inferring shapes and compiling takes much less time for
all of them together."""
from brew import CompileError

from . import _compiled, _layers, _plan_cache
from ._graph import names_files
from .proto import caffe_pb2

#: Layers that are not compiled, but whose tops have the shapes of their bottoms.
_PLAIN = ("Split", "Silence")


def _params_ahead(net, number):
    """Returns (number, LayerParameter) of the layers from ``number`` on whose shapes follow from
    those of the blobs that exist."""
    blobs, result = set(net._index_of), []
    for i in range(number, len(net._params)):
        param = net._params[i]
        is_known = _layers.is_compiled(param.type) or param.type in _PLAIN
        if not is_known or not param.bottom or not blobs.issuperset(param.bottom) or names_files(param):
            break
        blobs.update(param.top)
        result.append((i, param))
    return result


def infer(net, number, key):
    """Returns the shapes of the tops and of the parameters of a layer, and its fillers by the
    parameter's index, for bottoms of the shapes ``key``; None if it must be inferred alone. Infers
    those of later layers too. ``net``: a weak reference."""
    net = net()
    if (number, key) not in net._inferred:
        net._inferred = _inferred(net, number)
    return net._inferred.get((number, key))


def _inferred(net, number):
    params = _params_ahead(net, number)
    message = caffe_pb2.NetParameter()
    made = {top for _, param in params for top in param.top if top not in param.bottom}
    for name in dict.fromkeys(b for _, param in params for b in param.bottom if b not in made):
        source = message.layer.add(name="input:" + name, type="Input", top=[name])
        source.input_param.shape.add().dim.extend(net._blobs[net._index_of[name]].shape)
    for i, param in params:
        layer = message.layer.add()
        layer.CopyFrom(param)
        for field in ("include", "exclude", "blobs", "param", "loss_weight", "propagate_down"):
            layer.ClearField(field)
        layer.name = str(i)
    try:
        report = _plan_cache.shapes(message, phase=_compiled.phase_name(net._phase))
    except CompileError:
        return {}  # the layer itself reports it
    blobs = {name: tuple(shape) for name, shape in report["blobs"].items()}
    return {(i, tuple(blobs[name] for name in param.bottom)):
            ([blobs[name] for name in param.top], *_compiled.parameters_of(report, str(i))) for i, param in params}


def compile(net, number):
    """Compiles programs for layers from ``number`` on that have none for the shapes of their
    bottoms; for no layer if one of them fails. ``net``: a weak reference."""
    net = net()
    requests, shapes = [], {}
    for i, param in _params_ahead(net, number):
        layer, bottoms, tops = net._layers[i], net._bottom_index[i], net._top_index[i]
        key = tuple(shapes.get(j, net._blobs[j].shape) for j in bottoms)
        if isinstance(layer, _layers.SplitLayer):
            shapes.update((top, key[0]) for top in tops)
        elif isinstance(layer, _layers.CompiledLayer):
            if _compiled.has_empty_shape(key) or key not in layer.shapes:
                break
            if not layer.has_program(key) and not isinstance(layer, _layers.ViewLayer) \
                    and layer.phase == net._phase and param.type != "HDF5Output":
                requests.append((layer, key))
            shapes.update(zip(tops, layer.shapes[key][0]))
    if len(requests) > 1:
        try:
            _compiled.compile_layers(requests)
        except RuntimeError:
            pass  # the layer itself reports it
