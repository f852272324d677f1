"""Looks up ops of the C++ core, so that a functional form can be the op itself without a wrapper; objects of `torch.ops`."""

import weir

from ._absent import absent


def op(module: str, name: str):
    """The callable `name` of `weir._C.ops[module]`, or of another module when that one lacks it.

    An op that this build lacks becomes a function that raises NotImplementedError when called, so that one
    missing kernel never keeps the package from importing.
    """
    for table in (weir._C.ops.get(module, {}), *weir._C.ops.values()):
        if name in table:
            return table[name]
    return _missing(module, name)


def has_op(module: str, name: str) -> bool:
    """Whether the core has the op."""
    return name in weir._C.ops.get(module, {})


def _missing(module: str, name: str):
    def missing(*args, **kwargs):
        raise NotImplementedError(f"{name}: this build has no such op in {module}")

    missing.__name__ = name
    return missing


class OperatorBase:
    """What all of `torch.ops` are."""


class OpOverload(OperatorBase):
    """One signature of an op: `torch.ops.ns.name.default`, or another by its name."""

    def __init__(self, packet, op):
        self._packet, self._op, self._schema, self._name = packet, op, op.schema, op.full_name
        self._overloadname = op.overload or "default"
        self.__name__ = f"{self._opname}.{self._overloadname}"

    def __call__(self, *args, **kwargs):
        return self._op(*args, **kwargs)

    def name(self):
        return self._name

    @property
    def namespace(self):
        return self._op.name.partition("::")[0]

    _namespace = namespace

    @property
    def _opname(self):
        return self._op.name.partition("::")[2]

    @property
    def tags(self):
        return self._op.tags

    @property
    def overloadpacket(self):
        return self._packet

    def __deepcopy__(self, memo):
        return self

    def __str__(self):
        return f"{self._packet}.{self._overloadname}"

    def __repr__(self):
        return f"<OpOverload(op='{self._packet}', overload='{self._overloadname}')>"


class OpOverloadPacket:
    """`torch.ops.ns.name`: what is declared under one name. A call goes to the first overload that its arguments fit."""

    def __init__(self, name):
        self._qualified_op_name, self._overloads = name, {}
        self.__name__ = name.partition("::")[2]

    def add(self, op):
        """Adds an overload, or puts another in its place."""
        self._overloads[op.overload or "default"] = OpOverload(self, op)

    def remove(self, op):
        self._overloads.pop(op.overload or "default", None)

    def __call__(self, *args, **kwargs):
        overloads = list(self._overloads.values())
        if len(overloads) == 1:
            return overloads[0](*args, **kwargs)
        misfits = []
        for overload in overloads:
            try:
                overload._schema.bind(args, kwargs)
            except RuntimeError as error:
                misfits.append(str(error))
            else:
                return overload(*args, **kwargs)
        raise RuntimeError("Overloaded torch operator invoked from Python failed to match any schema:\n" + "\n".join(misfits))

    def __getattr__(self, name):
        if name.startswith("_"):  # also of a packet that is not filled yet
            raise AttributeError(name)
        found = self._overloads.get(name)
        if found is None:
            raise AttributeError(f"The underlying op of '{self}' has no overload name '{name}'")
        return found

    def overloads(self):
        return list(self._overloads)

    def __deepcopy__(self, memo):
        return self

    def __str__(self):
        return self._qualified_op_name.replace("::", ".")

    def __repr__(self):
        return f"<OpOverloadPacket(op='{self}')>"


HigherOrderOperator = absent("_ops.HigherOrderOperator", "weir has no graph capture of PyTorch's kind", base=OperatorBase)


def __getattr__(name):
    if name not in ("ops", "_OpNamespace"):
        raise AttributeError(f"module 'weir._ops' has no attribute '{name}'")
    from . import library  # which stands on this module
    return library.ops if name == "ops" else library._Namespace
