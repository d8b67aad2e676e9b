"""Nets written in Python: layers are functions of tops.

    n = caffe.NetSpec()
    n.data = L.Input(shape=dict(dim=[1, 3, 8, 8]))
    n.conv = L.Convolution(n.data, kernel_size=3, num_output=4)
    n.relu = L.ReLU(n.conv, in_place=True)
    print(n.to_proto())
"""
from collections import Counter, OrderedDict

import numpy as np

from .proto import caffe_pb2

__all__ = ["Function", "NetSpec", "Top", "layers", "params", "to_proto"]


def param_name_dict():
    """Returns a dict of layer type to the stem of its settings field, e.g. Pooling to pooling."""
    names = {}
    for field in caffe_pb2.LayerParameter.DESCRIPTOR.fields:
        if field.name.endswith("_param") and field.message_type is not None:
            kind = field.message_type.name
            if kind.endswith("Parameter"):
                names.setdefault(kind[: -len("Parameter")], field.name[: -len("_param")])
    return names


_param_names = param_name_dict()


def _accepted(value):
    """Converts NumPy's booleans, which protobuf rejects, to Python's."""
    return bool(value) if isinstance(value, np.bool_) else value


def assign_proto(proto, name, val):
    """Sets a field: a message from a dict, a repeated field from a list or one element."""
    field = getattr(proto, name)
    if hasattr(field, "extend"):
        for element in val if isinstance(val, (list, tuple)) else [val]:
            if isinstance(element, dict):
                added = field.add()
                for key, field_value in element.items():
                    assign_proto(added, key, field_value)
            elif hasattr(field, "add") and hasattr(element, "SerializeToString"):
                field.add().CopyFrom(element)
            else:
                field.append(_accepted(element))
    elif isinstance(val, dict):
        if not val:
            field.SetInParent()
        for key, field_value in val.items():
            assign_proto(field, key, field_value)
    elif hasattr(val, "SerializeToString"):
        field.CopyFrom(val)
    else:
        setattr(proto, name, _accepted(val))


class Top:
    """An output of a layer: top number ``n`` of the Function ``fn``."""

    def __init__(self, fn, n):
        self.fn, self.n = fn, n

    def to_proto(self):
        """Returns the NetParameter of all layers that this top depends on."""
        return to_proto(self)

    def _to_proto(self, layers, names, autonames):
        self.fn._to_proto(layers, names, autonames)

    def update(self, settings):
        """Adds settings to the layer that produces it."""
        self.fn.update(settings)


class Function:
    """A layer with its inputs and settings; several nets may use it.

    The methods that make messages share three dicts: ``layers`` from Function to LayerParameter, in
    execution order; ``names`` from Top, and from Function for layers without tops, to name; and
    ``autonames``, a Counter of the automatic names of each layer type."""

    def __init__(self, type_name, inputs, params):
        for i, top in enumerate(inputs):
            if not isinstance(top, Top):
                raise TypeError("%s input %d is not a Top (type is %s)" % (type_name, i, type(top)))
        self.type_name, self.inputs = type_name, inputs
        self.params = dict(params)
        self.ntop = self.params.pop("ntop", 1)
        self.in_place = self.params.pop("in_place", False)
        self.tops = tuple(Top(self, n) for n in range(self.ntop))

    def update(self, settings):
        """Adds or replaces settings."""
        self.params.update(settings)

    def _get_name(self, names, autonames):
        return self._get_top_name(self.tops[0] if self.tops else self, names, autonames)

    def _get_top_name(self, top, names, autonames):
        if top not in names:
            autonames[self.type_name] += 1
            names[top] = "%s%d" % (self.type_name, autonames[self.type_name])
        return names[top]

    def _to_proto(self, layers, names, autonames):
        """Adds the layer and all layers that it depends on."""
        stack = [self]  # iterative, because deep nets exceed Python's stack
        while stack:
            fn = stack[-1]
            missing = [top.fn for top in fn.inputs if top.fn not in layers] if fn not in layers else []
            if missing:
                stack.append(missing[0])
                continue
            stack.pop()
            if fn not in layers:
                layers[fn] = fn._layer(layers, names, autonames)

    def _layer(self, layers, names, autonames):
        layer = caffe_pb2.LayerParameter(type=self.type_name)
        layer.bottom.extend(layers[top.fn].top[top.n] for top in self.inputs)
        if self.in_place:
            layer.top.extend(layer.bottom)
        else:
            layer.top.extend(self._get_top_name(top, names, autonames) for top in self.tops)
        layer.name = self._get_name(names, autonames)
        stem = _param_names.get(self.type_name)
        settings = getattr(layer, stem + "_param") if stem else None
        for key, value in self.params.items():
            is_own = not key.endswith("param") and settings is not None and key in settings.DESCRIPTOR.fields_by_name
            assign_proto(settings if is_own else layer, key, value)
        return layer


def _net_of(tops, names):
    """Returns the NetParameter of all layers that these Tops and Functions depend on."""
    layers, autonames = OrderedDict(), Counter()
    for top in tops:
        top._to_proto(layers, names, autonames)
    net = caffe_pb2.NetParameter()
    net.layer.extend(layers.values())
    return net


def to_proto(*tops):
    """Returns the NetParameter of all layers that these tops depend on, with automatic names."""
    return _net_of(tops, {})


class NetSpec:
    """A net as a set of named tops."""

    def __init__(self):
        object.__setattr__(self, "tops", OrderedDict())

    def __setattr__(self, name, value):
        self.tops[name] = value

    def __getattr__(self, name):
        try:
            return object.__getattribute__(self, "tops")[name]
        except KeyError:
            if name.startswith("__"):
                raise AttributeError(name) from None
            raise

    def __setitem__(self, key, value):
        self.tops[key] = value

    def __getitem__(self, item):
        return self.tops[item]

    def __delitem__(self, name):
        del self.tops[name]

    def __delattr__(self, name):
        del self.tops[name]

    def __dir__(self):
        return sorted(set(super().__dir__()) | set(self.tops))

    def keys(self):
        return list(self.tops)

    def vals(self):
        return list(self.tops.values())

    def update(self, other, settings=None):
        """Adds the tops of another NetSpec or dict. With a name and a dict, as in SSD's branch,
        adds settings to the layer that produces this top."""
        if settings is not None:
            self.tops[other].update(settings)
        else:
            self.tops.update(other.tops if isinstance(other, NetSpec) else other)

    def to_proto(self):
        """Returns the NetParameter."""
        return _net_of(self.tops.values(), {top: name for name, top in self.tops.items()})


class Layers:
    """``L.Type(*bottoms, **settings)``: a Top, several with ``ntop``, a Function with ``ntop=0``."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)

        def layer(*inputs, **settings):
            fn = Function(name, inputs, settings)
            return fn if fn.ntop == 0 else fn.tops[0] if fn.ntop == 1 else fn.tops

        return layer


class _Constants:
    """The enum values of one message."""

    def __init__(self, name):
        self._name = name

    def __getattr__(self, name):
        return getattr(getattr(caffe_pb2, self._name + "Parameter"), name)


class Parameters:
    """``P.Pooling.MAX``: enum values."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return _Constants(name)


layers = Layers()
params = Parameters()
