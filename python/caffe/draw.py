"""Pictures of nets, by Graphviz."""
import shutil
import subprocess

from brew._files import atomic

from . import _graph
from .proto import caffe_pb2

_COLOURS = {"Convolution": "#FF5050", "Pooling": "#FF9900", "InnerProduct": "#CC33FF"}


def get_pooling_types_dict():
    """Returns a dict of the numbers of pooling methods to their names."""
    return {value.number: value.name for value in caffe_pb2.PoolingParameter.PoolMethod.DESCRIPTOR.values}


def _first_or(values, default):
    return values[0] if len(values) else default


def get_layer_label(layer, rankdir, display_lrm=False):
    """Returns the label of a layer."""
    lines = ["%s (%s)" % (layer.name, layer.type)]
    if layer.type in ("Convolution", "Deconvolution"):
        p = layer.convolution_param
        lines += ["kernel size: %d" % (_first_or(p.kernel_size, p.kernel_h or 1)),
                  "stride: %d" % (_first_or(p.stride, p.stride_h or 1)), "pad: %d" % (_first_or(p.pad, p.pad_h))]
    elif layer.type == "Pooling":
        p = layer.pooling_param
        lines[0] = "%s (%s %s)" % (layer.name, get_pooling_types_dict()[p.pool], layer.type)
        lines += ["kernel size: %d" % p.kernel_size, "stride: %d" % p.stride, "pad: %d" % p.pad]
    if display_lrm and layer.param:
        lines.append("lr mult: " + ", ".join("%g" % p.lr_mult for p in layer.param))
    return (" " if rankdir in ("TB", "BT") else "\n").join(lines)


def _quoted(text):
    return '"%s"' % text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _layers(caffe_net, phase):
    if phase is None:
        return list(caffe_net.layer)
    return list(caffe_pb2.NetParameter.FromString(_graph.describe(caffe_net, phase).net).layer)


def get_dot(caffe_net, rankdir="LR", label_edges=True, phase=None, display_lrm=False):
    """Converts a NetParameter to Graphviz text."""
    lines = ["digraph %s {" % _quoted(caffe_net.name or "Net"), "  rankdir=%s;" % rankdir]
    blobs = {}
    for i, layer in enumerate(_layers(caffe_net, phase)):
        in_place = len(layer.bottom) == 1 and list(layer.bottom) == list(layer.top)
        colour = "#90EE90" if in_place else _COLOURS.get(layer.type, "#6495ED")
        lines.append("  layer%d [label=%s, shape=record, style=filled, fillcolor=\"%s\"];"
                     % (i, _quoted(get_layer_label(layer, rankdir, display_lrm)), colour))
        for blob in list(layer.bottom) + list(layer.top):
            if blob not in blobs:
                blobs[blob] = "blob%d" % len(blobs)
                lines.append("  %s [label=%s, shape=octagon, style=filled, fillcolor=\"#E0E0E0\"];"
                             % (blobs[blob], _quoted(blob)))
        lines += ["  %s -> layer%d;" % (blobs[b], i) for b in layer.bottom]
        size = {"Convolution": layer.convolution_param.num_output, "Deconvolution": layer.convolution_param.num_output,
                "InnerProduct": layer.inner_product_param.num_output}.get(layer.type)
        label = " [label=\"%d\"]" % size if label_edges and size else ""
        lines += ["  layer%d -> %s%s;" % (i, blobs[t], label) for t in layer.top]
    return "\n".join(lines + ["}"]) + "\n"


def draw_net(caffe_net, rankdir, ext="png", phase=None, display_lrm=False):
    """Renders a NetParameter and returns the bytes. Needs Graphviz's ``dot``."""
    text = get_dot(caffe_net, rankdir, phase=phase, display_lrm=display_lrm)
    if ext in ("dot", "raw"):
        return text.encode()
    dot = shutil.which("dot")
    if dot is None:
        raise RuntimeError("pictures need Graphviz: its program 'dot' was not found")
    process = subprocess.run([dot, "-T" + ext], input=text.encode(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if process.returncode:
        raise RuntimeError("dot: " + process.stderr.decode(errors="replace").strip())
    return process.stdout


def draw_net_to_file(caffe_net, filename, rankdir="LR", phase=None, display_lrm=False):
    """Writes a picture in the format of the file extension."""
    ext = filename[filename.rfind(".") + 1:]
    with atomic(filename) as name:
        with open(name, "wb") as file:
            file.write(draw_net(caffe_net, rankdir, ext, phase, display_lrm))
