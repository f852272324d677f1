"""`torch.FloatTensor` and its kin: a constructor, a test for `isinstance`, and a name of a dtype."""
import weir

_DTYPES = {"Float": weir.float32, "Double": weir.float64, "Half": weir.float16, "BFloat16": weir.bfloat16,
           "Long": weir.int64, "Int": weir.int32, "Short": weir.int16, "Char": weir.int8, "Byte": weir.uint8,
           "Bool": weir.bool}


class _TensorType(type):
    """The type of these names: they are classes of which no tensor is, but that answer for it."""

    def __new__(mcs, name, bases, namespace):
        if bases:
            raise TypeError(f"type '{bases[0]}' is not an acceptable base type")
        return super().__new__(mcs, name, bases, namespace)

    def __call__(cls, *args, **kwargs):
        return weir._C._construct_legacy(cls.dtype, *args, **kwargs)

    def __instancecheck__(cls, obj):
        return isinstance(obj, weir.Tensor) and obj.dtype is cls.dtype and obj.device.type == "cpu"

    def __repr__(cls):
        return f"<class 'torch.{cls.__name__}'>"

    def __str__(cls):
        return f"torch.{cls.__name__}"


for _name, _dtype in _DTYPES.items():
    globals()[_name + "Tensor"] = _TensorType(_name + "Tensor", (), {
        "dtype": _dtype, "__module__": "torch", "is_cuda": False, "is_sparse": False,
        "__doc__": f"FloatTensor's form for {_dtype}: of sizes uninitialised, of a sequence its numbers."})


def dtype_of(kind):
    """The dtype that a type, its name ("torch.FloatTensor") or a dtype stands for. TypeError for anything else."""
    if isinstance(kind, weir.dtype):
        return kind
    if isinstance(kind, str):
        kind = globals().get(kind.removeprefix("torch."), None)
    if kind is weir.Tensor:
        return weir.get_default_dtype()
    if isinstance(kind, _TensorType):
        return kind.dtype
    raise TypeError("invalid type object: only floating-point types are supported as the default type" if kind is None
                    else f"type(): expected a dtype or a tensor type, got {kind!r}")
