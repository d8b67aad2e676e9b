"""Caffe's Python commands: ``python3 -m caffe.commands NAME ...``, or by name if the wheel is
installed."""
import argparse
import os
import sys

from google.protobuf import text_format
from google.protobuf.message import DecodeError

import brew
from brew._files import write_bytes

from . import _weights, draw
from .proto import caffe_pb2


def _parse_upgraded(source, text, message):
    """Parses a text in any syntax version; reports a text that is already current."""
    text_format.Parse(brew.upgrade(text + "\n", name=source), message)  # errors include locations
    if text_format.Parse(text, type(message)()) == message:
        print("File already in latest proto format: %s" % source, file=sys.stderr)
    return message


def _upgrade_text(name, kind, arguments):
    message = getattr(caffe_pb2, kind)()
    source, target = _require_two_files(name, arguments)
    with open(source) as file:
        text = file.read()
    upgraded = text_format.MessageToString(_parse_upgraded(source, text, message))
    write_bytes(target, upgraded.encode())
    print("Wrote upgraded %s text proto to %s" % (kind, target), file=sys.stderr)


def upgrade_net_proto_text(arguments):
    """IN OUT: upgrades the prototxt of a net to the current syntax."""
    _upgrade_text("upgrade_net_proto_text", "NetParameter", arguments)


def upgrade_solver_proto_text(arguments):
    """IN OUT: upgrades the prototxt of a solver to the current syntax."""
    _upgrade_text("upgrade_solver_proto_text", "SolverParameter", arguments)


def upgrade_net_proto_binary(arguments):
    """IN OUT: upgrades a .caffemodel to the current format."""
    source, target = _require_two_files("upgrade_net_proto_binary", arguments)
    _weights.read(source)  # reports damaged files
    with open(source, "rb") as file:
        net = caffe_pb2.NetParameter.FromString(file.read())
    names, blobs = [], {}  # blobs: layer name to a LayerParameter that contains only blobs
    for layer in [*net.layer, *net.layers]:
        wrapped = [layer.layer] if layer.DESCRIPTOR.name == "V1LayerParameter" and layer.HasField("layer") else []
        names.append((wrapped + [layer])[0].name)
        moved = caffe_pb2.LayerParameter()
        for part in [*wrapped, layer]:
            moved.blobs.MergeFrom(part.blobs)
            part.ClearField("blobs")
        if moved.blobs:
            blobs[names[-1]] = moved
    duplicates = sorted(name for name in blobs if names.count(name) > 1)
    if duplicates:
        raise RuntimeError("%s: several layers are called '%s'" % (source, duplicates[0]))
    upgraded_net = _parse_upgraded(source, str(net), caffe_pb2.NetParameter())
    lost_layers = blobs.keys() - {layer.name for layer in upgraded_net.layer}
    if lost_layers:
        raise RuntimeError("%s: layer '%s' has parameters and is not in the upgraded net"
                           % (source, sorted(lost_layers)[0]))
    for layer in upgraded_net.layer:
        if layer.name in blobs:
            layer.MergeFrom(blobs[layer.name])
    write_bytes(target, upgraded_net.SerializeToString())
    print("Wrote upgraded NetParameter binary proto to %s" % target, file=sys.stderr)


def draw_net(arguments):
    """IN OUT: draws a net in the format of OUT's extension."""
    parser = argparse.ArgumentParser(prog="draw_net", description="Draw a graph of the net architecture.")
    parser.add_argument("input_net_proto_file", help="Input network prototxt file")
    parser.add_argument("output_image_file", help="Output image file")
    parser.add_argument("--rankdir", default="LR", help="TB, BT, LR or RL")
    parser.add_argument("--phase", default="ALL", choices=["TRAIN", "TEST", "ALL"], help="Which layers to draw")
    parser.add_argument("--display_lrm", action="store_true", help="Show learning rate multipliers")
    options = parser.parse_args(arguments)
    net = text_format.Parse(brew.upgrade(options.input_net_proto_file), caffe_pb2.NetParameter())
    print("Drawing net to %s" % options.output_image_file)
    phase = None if options.phase == "ALL" else caffe_pb2.Phase.Value(options.phase)
    draw.draw_net_to_file(net, options.output_image_file, options.rankdir, phase, options.display_lrm)


def _require_two_files(name, arguments):
    if len(arguments) != 2:
        print("Usage: %s file_in file_out" % name, file=sys.stderr)
        raise SystemExit(2)
    return arguments


_COMMANDS = {f.__name__: f for f in (upgrade_net_proto_text, upgrade_net_proto_binary, upgrade_solver_proto_text,
                                     draw_net)}


def main(arguments=None):
    """Runs the command of the program's name or of the first argument."""
    name, arguments = os.path.basename(sys.argv[0]), sys.argv[1:] if arguments is None else list(arguments)
    if name not in _COMMANDS:
        if not arguments or arguments[0] not in _COMMANDS:
            print("usage: python3 -m caffe.commands COMMAND ...", file=sys.stderr)
            for command, function in _COMMANDS.items():
                print("  %s %s" % (command, function.__doc__), file=sys.stderr)
            return 2
        name, arguments = arguments[0], arguments[1:]
    try:
        _COMMANDS[name](arguments)
    except brew.Error as failure:
        print(failure, file=sys.stderr)
        return getattr(failure, "status", 1)
    except (OSError, RuntimeError, ValueError, DecodeError, text_format.ParseError) as failure:
        print("%s: error: %s" % (name, failure), file=sys.stderr)
        return 3 if isinstance(failure, OSError) else 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
