"""Pictures of nets, by Graphviz."""
from brew import Graph
from brew._files import atomic

from . import _graph
from .proto import caffe_pb2

# Attributes of nodes.
LAYER_STYLE_DEFAULT = {"shape": "record", "fillcolor": "#6495ED", "style": "filled"}
NEURON_LAYER_STYLE = {"shape": "record", "fillcolor": "#90EE90", "style": "filled"}  # layers in place
BLOB_STYLE = {"shape": "octagon", "fillcolor": "#E0E0E0", "style": "filled"}

_COLOURS = {"Convolution": "#FF5050", "Deconvolution": "#FF5050", "Pooling": "#FF9900", "InnerProduct": "#CC33FF"}
_WITH_RATES = ("Convolution", "Deconvolution", "InnerProduct")


class PydotGraph(Graph):
    """A picture of a net with the methods by which pydot's graphs are drawn: ``create_png()``,
    ``write_png(path)`` and likewise for the other formats of Graphviz."""

    def to_string(self):
        """Returns the text in Graphviz's language."""
        return self.dot

    def create(self, prog=None, format="ps"):
        """Returns the picture as bytes; formats ``dot`` and ``raw`` are the text and do not need Graphviz.
        Raises RuntimeError if Graphviz is not installed."""
        return self.dot.encode() if format in ("dot", "raw") else self._drawn(format, None)

    def write(self, path, prog=None, format="raw"):
        """Writes the picture to a file, like create()."""
        with atomic(path) as name, open(name, "wb") as file:
            file.write(self.create(prog, format))
        return True

    def __getattr__(self, name):
        action, _, kind = name.partition("_")
        if action not in ("create", "write") or not kind:
            raise AttributeError("a graph of caffe.draw has no attribute '%s'; it can only be drawn" % name)
        if action == "create":
            return lambda prog=None: self.create(prog, kind)
        return lambda path, prog=None: self.write(path, prog, kind)


def get_pooling_types_dict():
    """Returns a dict of the numbers of pooling methods to their names."""
    return {value.number: value.name for value in caffe_pb2.PoolingParameter.PoolMethod.DESCRIPTOR.values}


def get_edge_label(layer):
    """Returns the label of the edges from a layer to its tops: its batch size or number of outputs, or
    two quotes for no label."""
    if layer.type == "Data":
        return "Batch %d" % layer.data_param.batch_size
    if layer.type in ("Convolution", "Deconvolution"):
        return str(layer.convolution_param.num_output)
    return str(layer.inner_product_param.num_output) if layer.type == "InnerProduct" else '""'


def get_layer_lr_mult(layer):
    """Returns the multipliers of the learning rates of a layer's weights and biases. Raises ValueError for
    layers other than Convolution, Deconvolution and InnerProduct."""
    if layer.type not in _WITH_RATES:
        raise ValueError("%s layers do not have a learning rate multiplier" % layer.type)
    if len(layer.param) > 2:
        raise ValueError("layer '%s' has more than two learning rate multipliers" % layer.name)
    rates = [p.lr_mult for p in layer.param] + [1.0, 1.0]
    return tuple(rates[:2])


def choose_color_by_layertype(layertype):
    """Returns the fill colour of a layer type."""
    return _COLOURS.get(layertype, "#6495ED")


def _first_or(values, default):
    return values[0] if len(values) else default


def _quoted(text):
    return '"%s"' % text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def get_layer_label(layer, rankdir, display_lrm=False):
    """Returns the label of a layer, in quotes."""
    lines = [layer.name, "(%s)" % layer.type]
    if layer.type in ("Convolution", "Deconvolution"):
        p = layer.convolution_param
        lines += ["kernel size: %d" % (_first_or(p.kernel_size, p.kernel_h or 1)),
                  "stride: %d" % (_first_or(p.stride, p.stride_h or 1)), "pad: %d" % (_first_or(p.pad, p.pad_h))]
    elif layer.type == "Pooling":
        p = layer.pooling_param
        lines[1] = "(%s %s)" % (layer.type, get_pooling_types_dict()[p.pool])
        lines += ["kernel size: %d" % p.kernel_size, "stride: %d" % p.stride, "pad: %d" % p.pad]
    if display_lrm and layer.type in _WITH_RATES and any(get_layer_lr_mult(layer)):
        lines.append("lr mult: %.1f, %.1f" % get_layer_lr_mult(layer))
    return _quoted((" " if rankdir in ("TB", "BT") else "\n").join(lines))


def _layers(caffe_net, phase):
    if phase is None:
        return list(caffe_net.layer)
    return list(caffe_pb2.NetParameter.FromString(_graph.describe(caffe_net, phase).net).layer)


def _attributes(label, style):
    return "[%s]" % ", ".join("%s=%s" % item for item in [("label", label)] + [(k, _quoted(v)) for k, v in style.items()])


def get_pydot_graph(caffe_net, rankdir, label_edges=True, phase=None, display_lrm=False):
    """Converts a NetParameter to a graph with pydot's methods for drawing. ``phase``: the layers of this
    phase, or None for all."""
    lines = ["digraph %s {" % _quoted(caffe_net.name or "Net"), "  rankdir=%s;" % rankdir]
    blobs = {}
    for i, layer in enumerate(_layers(caffe_net, phase)):
        in_place = len(layer.bottom) == 1 and list(layer.bottom) == list(layer.top)
        style = NEURON_LAYER_STYLE if in_place else \
            dict(LAYER_STYLE_DEFAULT, fillcolor=choose_color_by_layertype(layer.type))
        lines.append("  layer%d %s;" % (i, _attributes(get_layer_label(layer, rankdir, display_lrm), style)))
        for blob in list(layer.bottom) + list(layer.top):
            if blob not in blobs:
                blobs[blob] = "blob%d" % len(blobs)
                lines.append("  %s %s;" % (blobs[blob], _attributes(_quoted(blob), BLOB_STYLE)))
        lines += ["  %s -> layer%d;" % (blobs[b], i) for b in layer.bottom]
        label = get_edge_label(layer) if label_edges else '""'
        label = "" if label == '""' else " [label=%s]" % _quoted(label)
        lines += ["  layer%d -> %s%s;" % (i, blobs[t], label) for t in layer.top]
    return PydotGraph("\n".join(lines + ["}"]) + "\n")


def draw_net(caffe_net, rankdir, ext="png", phase=None, display_lrm=False):
    """Renders a NetParameter and returns the bytes. Needs Graphviz's ``dot``."""
    return get_pydot_graph(caffe_net, rankdir, phase=phase, display_lrm=display_lrm).create(format=ext)


def draw_net_to_file(caffe_net, filename, rankdir="LR", phase=None, display_lrm=False):
    """Writes a picture in the format of the file extension."""
    graph = get_pydot_graph(caffe_net, rankdir, phase=phase, display_lrm=display_lrm)
    graph.write(filename, format=filename[filename.rfind(".") + 1:])
