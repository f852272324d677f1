"""Structures of trees as text, in PyTorch's form: (protocol, {type, context, children_spec}) in JSON."""
import enum
import json
import sys
from collections import OrderedDict, defaultdict, deque, namedtuple

_PROTOCOL = 1
_of_type: dict = {}  # container -> (its name in texts, context -> what JSON holds, and back)
_types: dict = {}    # name -> container


def register(cls, name, to_text, from_text):
    """Texts name the container so; None for one that they cannot name. ValueError for one of the two functions alone."""
    if (to_text is None) != (from_text is None):
        raise ValueError(f"Both to_dumpable_context and from_dumpable_context for {cls} must be None or registered.")
    _of_type[cls] = name, to_text, from_text
    if name is not None:
        _types[name] = cls


def forget(cls):
    """The container is none any more."""
    _types.pop(_of_type.pop(cls)[0], None)


def _name_of(cls):
    if _of_type.get(cls, (None,))[0] is None:
        raise NotImplementedError(f"Can't serialize TreeSpec of namedtuple class {cls} because we didn't register a serializated_type_name. "
                                  "Please register using `_register_namedtuple`.")
    return _of_type[cls][0]


def _class_named(name):
    if name not in _types:
        raise NotImplementedError(f"Can't deserialize TreeSpec of namedtuple class {name} because we couldn't find a serializated name.")
    return _types[name]


def _class_at(module, path, base):
    """The class that a text names. A text may come from a stranger: nothing is imported for it, and no function is taken. ValueError if there is none."""
    place = sys.modules.get(module)
    for part in path.split("."):
        place = getattr(place, part, None)
    if not (isinstance(place, type) and issubclass(place, base)):
        raise ValueError(f"treespec_loads: expected a class of an imported module, got {module}:{path}")
    return place


#: What texts call the containers that are registered from the start.
BUILTIN = {
    **{cls: {"serialized_type_name": name} for cls, name in (
        (tuple, "builtins.tuple"), (list, "builtins.list"), (dict, "builtins.dict"), (OrderedDict, "collections.OrderedDict"),
        (deque, "collections.deque"))},
    namedtuple: {"serialized_type_name": "collections.namedtuple", "to_dumpable_context": _name_of, "from_dumpable_context": _class_named},
    defaultdict: {
        "serialized_type_name": "collections.defaultdict",
        "to_dumpable_context": lambda context: {"default_factory_module": context[0].__module__, "default_factory_name": context[0].__qualname__,
                                                "dict_context": context[1]},
        "from_dumpable_context": lambda text: [_class_at(text["default_factory_module"], text["default_factory_name"], object), text["dict_context"]]}}


def _enumerated(value):
    if isinstance(value, enum.Enum):
        return {"__enum__": True, "fqn": f"{type(value).__module__}:{type(value).__qualname__}", "name": value.name}
    raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")


def _as_enumerated(found):
    if "__enum__" not in found:
        return found
    module, _, path = found["fqn"].partition(":")
    return _class_at(module, path, enum.Enum)[found["name"]]


def _schema(spec):
    if spec.is_leaf():
        return {"type": None, "context": None, "children_spec": []}
    if spec.type not in _of_type:
        raise NotImplementedError(f"Serializing {spec.type} in pytree is not registered.")
    name, to_text, _ = _of_type[spec.type]
    if name is None:
        raise NotImplementedError(f"No registered serialization name for {spec.type} found. Please update your _register_pytree_node call with "
                                  "a `serialized_type_name` kwarg.")
    try:
        context = to_text(spec.context) if to_text is not None else json.dumps(spec.context, default=_enumerated)
    except TypeError as error:
        raise TypeError("Unable to serialize context. Please make the context json dump-able, or register a custom serializer using "
                        "_register_pytree_node.") from error
    return {"type": name, "context": context, "children_spec": [_schema(child) for child in spec.children()]}


def dumps(spec, protocol):
    """The text of a structure."""
    protocol = _PROTOCOL if protocol is None else protocol
    if protocol != _PROTOCOL:
        raise ValueError(f"Unknown protocol {protocol}. Available protocols: {[_PROTOCOL]}")
    return json.dumps((protocol, _schema(spec)), default=_enumerated)


def loads(text, make, leaf):
    """The structure of a text: make(container, context, structures of the children), or `leaf`."""
    protocol, schema = json.loads(text)
    if protocol != _PROTOCOL:
        raise ValueError(f"Unknown protocol {protocol}. Available protocols: {[_PROTOCOL]}")

    def built(schema):
        if schema["type"] is None and schema["context"] is None and not schema["children_spec"]:
            return leaf
        if schema["type"] not in _types:
            raise NotImplementedError(f"Deserializing {schema['type']} in pytree is not registered.")
        cls = _types[schema["type"]]
        from_text = _of_type[cls][2]
        context = from_text(schema["context"]) if from_text is not None else json.loads(schema["context"], object_hook=_as_enumerated)
        return make(cls, context, [built(child) for child in schema["children_spec"]])
    return built(schema)
