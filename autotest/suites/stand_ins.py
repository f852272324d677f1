"""What PyTorch's test files import of PyTorch's inside, so that they can be loaded where a subject answers for `torch`.

Nothing here computes: a stand-in is what an import finds. A test that uses one fails, and fails rightly.
"""

import contextlib
import importlib
import importlib.abc
import importlib.util
import types
from pathlib import Path

#: PyTorch's own files, which ask the subject through `torch`: its test helpers, and what they lean on.
FIRST = ("torch.testing._internal", "torch.testing._comparison")
OWN_FILES = ("torch.fx", "torch._numpy", "torch.autograd._functions", "torch.utils", "torch.testing", "torch._vendor", "torch._utils_internal", "torch._lazy")

#: Names in modules that a subject has, by what stands for them.
CLASSES = """_C.ScriptDict _C.ScriptList _C.ScriptMethod _C._DisableTorchDispatch testing.FileCheck
    serialization.LoadEndianness serialization.SourceChangeWarning _dynamo.utils.LazyString _subclasses.fake_tensor.FakeTensorConverter
    _subclasses.CrossRefFakeMode _custom_op.impl.CustomOp""".split()
CALLS = """backends.disable_global_flags cpu._is_avx2_supported _scaled_mm _scaled_mm_v2 jiterator_unary jiterator_binary
    jiterator_4inputs_with_extra_args jiterator_binary_return_by_ref jiterator_2inputs_2outputs _segment_reduce cuda.jiterator
    autograd.gradcheck._get_numerical_jacobian autograd.gradcheck._iter_tensors autograd._calculate_shape autograd.kineto_available
    autograd.profiler.emit_itt _disable_dynamo utils._import_utils.import_dill utils._import_utils.dill_available
    utils._python_dispatch.return_and_correct_aliasing fx.graph._PyTreeCodeGen fx.graph._PyTreeInfo serialization.skip_data
    serialization.get_default_load_endianness serialization.set_default_load_endianness
    serialization.check_module_version_greater_or_equal distributions.dirichlet._Dirichlet_backward _utils.try_import
    overrides._pop_mode overrides._push_mode utils.checkpoint._infer_device_type _C._functorch.reshape_dim_into _C._functorch.reshape_dim_outof
    _C._ExcludeDispatchKeyGuard _ops.HigherOrderOperator _C.DispatchKey _C.DispatchKeySet _dynamo.allow_in_graph
    _functorch.deprecated.make_fx _functorch.experimental.control_flow _functorch.vmap.restore_vmap _functorch.utils.enable_single_level_autograd_function
    _functorch.eager_transforms._slice_argnums _functorch.make_functional.functional_init
    _functorch.make_functional.functional_init_with_buffers _inductor.codecache.CppCodeCache _dynamo.utils.clone_input""".split()
ANSWERS = {"_nnpack_available": lambda: False, "_utils._is_privateuse1_backend_available": lambda *a: False, "_C._get_cpu_capability": lambda: "AVX2",
           "_C._get_privateuse1_backend_name": lambda: "privateuseone", "backends.mkldnn.is_available": lambda: False,
           "backends.python_native": types.SimpleNamespace(available_dsls=[]), "_C._get_all_dtypes": lambda: [],
           "_C._len_torch_function_stack": lambda: 0, "_C._get_torch_function_state": lambda: 0,
           "_C._set_torch_function_state": lambda state: None, "_C._TorchFunctionState": types.SimpleNamespace(ENABLED=0),
           "_C._functorch.TransformType": types.SimpleNamespace(Vmap=0, Grad=1, Jvp=2, Functionalize=3),
           "_C._debug_only_are_vmap_fallback_warnings_enabled": lambda: False,
           "_C._debug_only_display_vmap_fallback_warnings": lambda on: None, "_inductor.utils.GPU_TYPES": [], "_dynamo.config.compiled_autograd": False,
           "_dynamo.config.numpy_default_float": "float64", "_dynamo.config.numpy_default_complex": "complex128",
           "_dynamo.config.numpy_default_int": "int64", "_dynamo.config.use_numpy_random_stream": False, "_custom_op.impl.global_registry": {}, "return_types.all_return_types": [],
           "_functorch.config": types.SimpleNamespace(check_custom_op_aliasing=True)}
MODULES = "_refs _inductor.exc _decomp".split()  # looked up without an import
NO_MODULES = """ao.nn.qat.modules ao.nn.quantizable.modules ao.nn.quantized.modules""".split()  # lists of modules, here empty


class _Switch(contextlib.ContextDecorator):
    """A switch between ways to the same answers: set by a call, for a `with` or for a function."""

    def __init__(self, *args):
        pass

    def __enter__(self):
        pass

    def __exit__(self, *exception):
        pass


SWITCHES = ["autograd._force_original_view_tracking"]


class StandIn:
    """Anything: it is called, entered and looked into, and is false."""

    def __init__(self, *args, **kwargs):
        pass

    def __call__(self, *args, **kwargs):
        return StandIn()

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return StandIn()

    def __or__(self, other):
        return self

    def __bool__(self):
        return False

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        pass


class _Module(types.ModuleType):
    """A module in which every name is a stand-in, and none is public; those of classes are classes, since one may inherit from them."""

    __path__, __all__ = [], []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        base = Exception if name.endswith(("Error", "Exception")) else StandIn
        value = type(name, (base,), {}) if name[0].isupper() else StandIn()
        setattr(self, name, value)
        return value


class _Loader(importlib.abc.Loader):
    def create_module(self, spec):
        return _Module(spec.name)

    def exec_module(self, module):
        pass


class Files(importlib.abc.MetaPathFinder):
    """Modules of `torch` from PyTorch's files; below `roots`, or also, where `lacking` says so of a name, as stand-ins."""

    def __init__(self, site: Path, roots: tuple, lacking=None):
        self._site, self._roots, self._lacking = site, roots, lacking

    def find_spec(self, name, path=None, target=None):
        if name.startswith("functorch."):
            lacks = self._lacking and self._lacking("torch._" + name)
            return importlib.util.spec_from_loader(name, _Loader(), is_package=True) if lacks else None
        if not name.startswith("torch.") or self._lacking and not self._lacking(name):
            return None
        if any(name == root or name.startswith(root + ".") for root in self._roots):
            place = self._site / name.replace(".", "/")
            if (place / "__init__.py").exists():
                return importlib.util.spec_from_file_location(name, place / "__init__.py", submodule_search_locations=[str(place)])
            if place.with_suffix(".py").exists():
                return importlib.util.spec_from_file_location(name, place.with_suffix(".py"))
        return importlib.util.spec_from_loader(name, _Loader(), is_package=True) if self._lacking else None


def put(path: str, value) -> None:
    """Sets torch.`path`, unless the subject has it."""
    parent, _, name = ("torch." + path).rpartition(".")
    module = importlib.import_module(parent)
    if name not in vars(module):
        setattr(module, name, value)


def put_all() -> None:
    """Sets every name of the lists above that the subject has not."""
    importlib.import_module("functorch").__path__ = []  # PyTorch's is a package
    for path in CLASSES:
        put(path, type(path.rpartition(".")[2], (StandIn,), {}))
    for path in CALLS:
        put(path, StandIn())
    for path in SWITCHES:
        put(path, _Switch)
    for path, value in ANSWERS.items():
        parent, _, name = ("torch." + path).rpartition(".")
        setattr(importlib.import_module(parent), name, value)
    for path in MODULES:
        put(path, importlib.import_module("torch." + path))
    for path in NO_MODULES:
        importlib.import_module("torch." + path).__all__ = []
