"""Trees of containers: flattening, mapping and rebuilding them. Source: torch.utils._pytree.

Containers are lists, tuples, named tuples, dicts, OrderedDict, defaultdict, deque and what is registered; None is a leaf.
"""
import dataclasses
import functools
from collections import OrderedDict, defaultdict, deque, namedtuple
from typing import Any, Callable, NamedTuple, Protocol

import weir

from . import _treespec_text

Context, PyTree = Any, Any


class KeyEntry(Protocol):
    """A step into a container."""

    def __hash__(self) -> int: ...

    def __eq__(self, other: object) -> bool: ...

    def __str__(self) -> str: ...

    def get(self, parent: Any) -> Any: ...


class MappingKey(NamedTuple):
    """A step into a mapping."""

    key: Any

    def __str__(self):
        return f"[{self.key!r}]"

    def get(self, mapping):
        return mapping[self.key]


class SequenceKey(NamedTuple):
    """A step into a sequence."""

    idx: int

    def __str__(self):
        return f"[{self.idx!r}]"

    def get(self, sequence):
        return sequence[self.idx]


class GetAttrKey(NamedTuple):
    """A step into an object."""

    name: str

    def __str__(self):
        return f".{self.name}"

    def get(self, obj):
        return getattr(obj, self.name)


class NodeDef(NamedTuple):
    """How containers of one type come apart and together."""

    type: type
    flatten_fn: Callable       # container -> (children, context)
    unflatten_fn: Callable     # children, context -> container
    flatten_with_keys_fn: Any  # container -> ([(key, child)], context)


SUPPORTED_NODES: dict = {}


def register_pytree_node(cls, flatten_fn, unflatten_fn, *, serialized_type_name=None, to_dumpable_context=None,
                         from_dumpable_context=None, flatten_with_keys_fn=None):
    """Makes instances of cls containers. ValueError when cls is one already."""
    if cls in SUPPORTED_NODES:
        raise ValueError(f"{cls} is already registered as pytree node.")
    SUPPORTED_NODES[cls] = NodeDef(cls, flatten_fn, unflatten_fn, flatten_with_keys_fn)
    _treespec_text.register(cls, serialized_type_name, to_dumpable_context, from_dumpable_context)


_register_pytree_node = _private_register_pytree_node = register_pytree_node


def _deregister_pytree_node(cls):
    del SUPPORTED_NODES[cls]
    _treespec_text.forget(cls)


def register_constant(cls):
    """Makes instances of cls containers of nothing, kept in the structure."""
    register_pytree_node(cls, lambda x: ([], x), lambda _, x: x, flatten_with_keys_fn=lambda x: ([], x))


def register_dataclass(cls, *, field_names=None, drop_field_names=None, serialized_type_name=None):
    """Makes instances of a dataclass containers of their fields."""
    names = field_names or [f.name for f in dataclasses.fields(cls) if f.init and f.name not in (drop_field_names or ())]

    def flatten(obj):
        return [getattr(obj, n) for n in names], list(names)

    register_pytree_node(cls, flatten, lambda values, context: cls(**dict(zip(context, values))),
                         flatten_with_keys_fn=lambda o: ([(GetAttrKey(n), getattr(o, n)) for n in names], list(names)),
                         serialized_type_name=serialized_type_name)


def _sequence_keys(flatten):
    def with_keys(x):
        children, context = flatten(x)
        return [(SequenceKey(i), c) for i, c in enumerate(children)], context
    return with_keys


def _mapping(make):
    def flatten(d):
        return list(d.values()), list(d.keys())

    def with_keys(d):
        return [(MappingKey(k), v) for k, v in d.items()], list(d.keys())
    return flatten, lambda values, keys: make(zip(keys, values)), with_keys


def _enter(cls, flatten, unflatten, with_keys=None):
    """Registers a container, and gives its three functions, which programs use for containers of their own."""
    with_keys = with_keys or _sequence_keys(flatten)
    register_pytree_node(cls, flatten, unflatten, flatten_with_keys_fn=with_keys, **_treespec_text.BUILTIN.get(cls, {}))
    return flatten, unflatten, with_keys


_list_flatten, _list_unflatten, _list_flatten_with_keys = _enter(list, lambda x: (x, None), lambda v, c: list(v))
_tuple_flatten, _tuple_unflatten, _tuple_flatten_with_keys = _enter(tuple, lambda x: (list(x), None), lambda v, c: tuple(v))
_enter(weir.Size, lambda x: (list(x), None), lambda v, c: weir.Size(v))
_dict_flatten, _dict_unflatten, _dict_flatten_with_keys = _enter(dict, *_mapping(dict))
_ordereddict_flatten, _ordereddict_unflatten, _ordereddict_flatten_with_keys = _enter(OrderedDict, *_mapping(OrderedDict))
_odict_flatten, _odict_unflatten = _ordereddict_flatten, _ordereddict_unflatten
_namedtuple_flatten, _namedtuple_unflatten, _namedtuple_flatten_with_keys = _enter(
    namedtuple, lambda x: (list(x), type(x)), lambda v, c: c(*v),
    lambda x: ([(GetAttrKey(n), getattr(x, n)) for n in x._fields], type(x)))
_defaultdict_flatten, _defaultdict_unflatten, _defaultdict_flatten_with_keys = _enter(
    defaultdict, lambda d: (list(d.values()), [d.default_factory, list(d.keys())]),
    lambda v, c: defaultdict(c[0], zip(c[1], v)),
    lambda d: ([(MappingKey(k), v) for k, v in d.items()], [d.default_factory, list(d.keys())]))
_deque_flatten, _deque_unflatten, _deque_flatten_with_keys = _enter(
    deque, lambda x: (list(x), x.maxlen), lambda v, c: deque(v, maxlen=c))
BUILTIN_TYPES = frozenset(SUPPORTED_NODES)


def is_namedtuple_class(cls):
    return isinstance(cls, type) and issubclass(cls, tuple) and isinstance(getattr(cls, "_fields", None), tuple)


def is_namedtuple_instance(obj):
    return is_namedtuple_class(type(obj))


is_namedtuple = is_namedtuple_instance


def is_structseq_class(cls):
    """A class of C's named tuples, such as `os.stat_result`: of tuple itself, and closed to subclasses."""
    return (isinstance(cls, type) and cls.__bases__ == (tuple,) and not cls.__flags__ & 1 << 10
            and all(isinstance(getattr(cls, name, None), int) for name in ("n_fields", "n_sequence_fields", "n_unnamed_fields")))


def is_structseq_instance(obj):
    return is_structseq_class(type(obj))


def is_structseq(obj):
    return is_structseq_class(obj if isinstance(obj, type) else type(obj))


def _get_node_type(tree):
    cls = type(tree)
    if is_namedtuple_instance(tree):
        return namedtuple
    if cls in SUPPORTED_NODES:
        return cls
    if isinstance(tree, tuple) and cls.__module__ == "torch.return_types":  # each a kind of its own, made when it is first met
        _enter(cls, lambda x: (list(x), None), lambda v, c: cls(v))
    return cls


def tree_is_leaf(tree, is_leaf=None):
    """Is tree no container?"""
    return (is_leaf is not None and is_leaf(tree)) or _get_node_type(tree) not in SUPPORTED_NODES


class TreeSpec:
    """The structure of a tree without its leaves."""

    def __init__(self, type, context, children_specs):
        self.type, self.context, self.children_specs = type, context, list(children_specs)
        self.num_nodes = 1 + sum(c.num_nodes for c in self.children_specs)
        self.num_leaves = sum(c.num_leaves for c in self.children_specs) if type is not None else 1
        self.num_children = len(self.children_specs)

    def is_leaf(self):
        return self.type is None

    def children(self):
        return list(self.children_specs)

    def child(self, index):
        return self.children_specs[index]

    def unflatten(self, leaves):
        """The tree with these leaves. ValueError when they are not as many."""
        leaves = list(leaves)
        if len(leaves) != self.num_leaves:
            raise ValueError(f"treespec.unflatten(leaves): `leaves` has length {len(leaves)} but the spec refers to a pytree "
                             f"that holds {self.num_leaves} items ({self}).")
        return self._build(iter(leaves))

    def _build(self, leaves):
        if self.type is None:
            return next(leaves)
        return SUPPORTED_NODES[self.type].unflatten_fn([c._build(leaves) for c in self.children_specs], self.context)

    def flatten_up_to(self, tree):
        """The subtrees of `tree` where this structure has leaves. ValueError when it differs above them."""
        if self.type is None:
            return [tree]
        if _get_node_type(tree) is not self.type and not (self.type in (dict, OrderedDict, defaultdict) and isinstance(tree, dict)):
            raise ValueError(f"Type mismatch; expected {self.type!r}, but got {type(tree)!r}.")
        children, context = SUPPORTED_NODES[_get_node_type(tree)].flatten_fn(tree)
        if self.type in (dict, OrderedDict):
            if set(tree) != set(self.context):
                raise ValueError(f"Node keys mismatch; expected {self.context!r}, got {list(tree)!r}.")
            children = [tree[k] for k in self.context]
        elif len(children) != self.num_children or context != self.context:
            raise ValueError(f"Node arity mismatch; expected {self.num_children}, but got {len(children)}.")
        return [x for spec, child in zip(self.children_specs, children) for x in spec.flatten_up_to(child)]

    def __eq__(self, other):
        return isinstance(other, TreeSpec) and (self.type, self.context, self.children_specs) == (
            other.type, other.context, other.children_specs)

    def __hash__(self):
        context = tuple(self.context) if isinstance(self.context, list) else self.context
        return hash((self.type, str(context), tuple(self.children_specs)))

    def __repr__(self, indent=0):
        if self.type is None:
            return "*"
        inside = ",\n".join(" " * (indent + 2) + c.__repr__(indent + 2) for c in self.children_specs)
        inside = inside.lstrip() if len(self.children_specs) <= 1 else inside.lstrip()
        return f"TreeSpec({self.type.__name__}, {self.context}, [{inside}])"


class LeafSpec(TreeSpec):
    """The structure of a leaf."""

    def __init__(self):
        super().__init__(None, None, [])


PyTreeSpec, _LEAF = TreeSpec, LeafSpec()


def treespec_leaf():
    return _LEAF


def treespec_tuple(iterable=(), /):
    return TreeSpec(tuple, None, list(iterable))


def treespec_dict(mapping=(), /, **kwargs):
    specs = dict(mapping, **kwargs)
    return TreeSpec(dict, list(specs), list(specs.values()))


def _flatten(tree, leaves, is_leaf):
    if tree_is_leaf(tree, is_leaf):
        leaves.append(tree)
        return _LEAF
    kind = _get_node_type(tree)
    children, context = SUPPORTED_NODES[kind].flatten_fn(tree)
    return TreeSpec(kind, context, [_flatten(c, leaves, is_leaf) for c in children])


def tree_flatten(tree, is_leaf=None):
    """(leaves in order, structure)"""
    leaves: list = []
    return leaves, _flatten(tree, leaves, is_leaf)


def tree_unflatten(leaves, treespec):
    """The tree of that structure with these leaves."""
    if not isinstance(treespec, TreeSpec):
        raise TypeError(f"tree_unflatten(leaves, treespec): Expected `treespec` to be instance of TreeSpec but got item of type "
                        f"{type(treespec)}.")
    return treespec.unflatten(leaves)


def tree_iter(tree, is_leaf=None):
    """The leaves in order."""
    yield from tree_leaves(tree, is_leaf)


def tree_leaves(tree, is_leaf=None):
    """The leaves in order, as a list."""
    return tree_flatten(tree, is_leaf)[0]


def tree_structure(tree, is_leaf=None):
    """The structure."""
    return tree_flatten(tree, is_leaf)[1]


def tree_map(func, tree, *rests, is_leaf=None):
    """The tree whose leaves are func of the leaves in the same place of all trees."""
    leaves, spec = tree_flatten(tree, is_leaf)
    return spec.unflatten(map(func, leaves, *(spec.flatten_up_to(r) for r in rests)))


def tree_map_(func, tree, *rests, is_leaf=None):
    """tree, after func saw each leaf."""
    leaves, spec = tree_flatten(tree, is_leaf)
    for row in zip(leaves, *(spec.flatten_up_to(r) for r in rests)):
        func(*row)
    return tree


def _fits(kind):
    if isinstance(kind, (type, tuple)):
        return lambda x: isinstance(x, kind)
    import types
    return (lambda x: isinstance(x, kind)) if isinstance(kind, types.UnionType) else kind


def map_only(type_or_types_or_pred, /):
    """Decorates a function: it is applied to what fits, and the rest stays."""
    fits = _fits(type_or_types_or_pred)

    def decorate(func):
        return lambda x: func(x) if fits(x) else x
    return decorate


def tree_map_only(type_or_types_or_pred, /, func, tree, is_leaf=None):
    """tree_map on the leaves that fit."""
    return tree_map(map_only(type_or_types_or_pred)(func), tree, is_leaf=is_leaf)


def tree_map_only_(type_or_types_or_pred, /, func, tree, is_leaf=None):
    return tree_map_(map_only(type_or_types_or_pred)(func), tree, is_leaf=is_leaf)


def tree_all(pred, tree, is_leaf=None):
    return all(map(pred, tree_iter(tree, is_leaf)))


def tree_any(pred, tree, is_leaf=None):
    return any(map(pred, tree_iter(tree, is_leaf)))


def tree_all_only(type_or_types, /, pred, tree, is_leaf=None):
    return all(pred(x) for x in tree_iter(tree, is_leaf) if isinstance(x, type_or_types))


def tree_any_only(type_or_types, /, pred, tree, is_leaf=None):
    return any(pred(x) for x in tree_iter(tree, is_leaf) if isinstance(x, type_or_types))


def tree_leaves_with_path(tree, is_leaf=None):
    """[(path, leaf)], a path being a tuple of keys."""
    found: list = []

    def walk(tree, path):
        if tree_is_leaf(tree, is_leaf):
            found.append((path, tree))
            return
        node = SUPPORTED_NODES[_get_node_type(tree)]
        if node.flatten_with_keys_fn is None:
            raise ValueError(f"Did not find a flatten_with_keys_fn for type: {node.type}.")
        for key, child in node.flatten_with_keys_fn(tree)[0]:
            walk(child, (*path, key))
    walk(tree, ())
    return found


def tree_flatten_with_path(tree, is_leaf=None):
    return tree_leaves_with_path(tree, is_leaf), tree_structure(tree, is_leaf)


def tree_map_with_path(func, tree, *rests, is_leaf=None):
    """As tree_map, func taking the path first."""
    pairs, spec = tree_flatten_with_path(tree, is_leaf)
    columns = [spec.flatten_up_to(r) for r in rests]
    return spec.unflatten(func(path, leaf, *row) for (path, leaf), *row in zip(pairs, *columns))


def keystr(kp):
    """A path as text."""
    return "".join(map(str, kp))


def key_get(obj, kp):
    """What lies at the path."""
    for key in kp:
        obj = key.get(obj)
    return obj


def arg_tree_leaves(*args, **kwargs):
    """The leaves of all arguments."""
    return tree_leaves((args, kwargs)) if kwargs else [x for a in args for x in tree_leaves(a)]


def _broadcast_to_and_flatten(tree, treespec, is_leaf=None):
    """One leaf of tree for each leaf of the structure, a leaf of tree standing for all below; None when it does not fit."""
    if treespec.is_leaf():
        return [tree] if tree_is_leaf(tree, is_leaf) else None
    if tree_is_leaf(tree, is_leaf):
        return [tree] * treespec.num_leaves
    if _get_node_type(tree) is not treespec.type:
        return None
    children, context = SUPPORTED_NODES[treespec.type].flatten_fn(tree)
    if len(children) != treespec.num_children or context != treespec.context:
        return None
    result = []
    for child, spec in zip(children, treespec.children_specs):
        part = _broadcast_to_and_flatten(child, spec, is_leaf)
        if part is None:
            return None
        result += part
    return result


def treespec_dumps(treespec, protocol=None):
    """The structure as text, which `treespec_loads` reads and other processes too.

    NotImplementedError for containers that are registered without a `serialized_type_name`, TypeError for contexts that JSON does not
    hold, ValueError for a protocol other than 1.
    """
    if not isinstance(treespec, TreeSpec):
        raise TypeError(f"Expected `treespec` to be an instance of PyTreeSpec but got item of type {type(treespec)}.")
    return _treespec_text.dumps(treespec, protocol)


@functools.lru_cache
def treespec_loads(serialized):
    """The structure of which `treespec_dumps` made the text."""
    return _treespec_text.loads(serialized, TreeSpec, _LEAF)


def treespec_pprint(treespec):
    return str(tree_unflatten(["*"] * treespec.num_leaves, treespec)).replace("'*'", "*")


pytree_to_str = treespec_pprint


def _register_namedtuple(cls, *, serialized_type_name):
    """Texts of structures name this class of named tuples so."""
    _private_register_pytree_node(cls, _namedtuple_flatten, _namedtuple_unflatten, serialized_type_name=serialized_type_name,
                                  to_dumpable_context=_treespec_text._name_of, from_dumpable_context=_treespec_text._class_named,
                                  flatten_with_keys_fn=_namedtuple_flatten_with_keys)
