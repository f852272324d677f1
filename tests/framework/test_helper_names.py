"""Helpers that libraries import from PyTorch's private modules: of texts, threads, TorchScript, tests and shapes."""
import importlib
import threading
import unittest

import pytest
import torch
import torch._jit_internal
import torch.fx.experimental.proxy_tensor
import torch.fx.experimental.symbolic_shapes
import torch.profiler
import torch.testing._internal.common_utils
import weir

FRAMEWORKS = pytest.mark.parametrize("F", [weir, torch], ids=["weir", "torch"])


def module(F, path):
    return importlib.import_module(f"{F.__name__}.{path}")


@FRAMEWORKS
def test_printing_in_a_scope(F):
    with pytest.raises(KeyError), F._tensor_str.printoptions(precision=2, sci_mode=True):
        assert repr(F.tensor([1.5])) == "tensor([1.50e+00])"
        raise KeyError
    assert repr(F.tensor([1.5])) == "tensor([1.5000])"


@pytest.mark.parametrize("width", range(56, 80))
def test_lines_end_where_those_of_pytorch_end(width):
    def texts(F):
        with F._tensor_str.printoptions(linewidth=width):
            return [repr(F.tensor(values, dtype=F.float64)) for values in ([1.25, 2.5, 3.75, 4.5, 5.5], [[1.0] * 4] * 3, [[1.0] * 20] * 2)]
    assert texts(weir) == texts(torch)


@FRAMEWORKS
def test_texts_of_a_programs_own(F):
    text = F._tensor_str._add_suffixes("name(" + "x" * 60, ["size=3", "dtype=int"], 5, False)
    assert text == "name(" + "x" * 60 + ", size=3,\n     dtype=int)"
    assert F._tensor_str._add_suffixes("a(", ["b"], 2, True) == "a(,\n  b)"
    x = F.ones(2, dtype=F.float64)
    assert F._tensor_str._str(x) == repr(x) and F._tensor_str._str_intern(x, tensor_contents="mine") == "tensor(mine, dtype=torch.float64)"


@FRAMEWORKS
def test_threads_have_names(F):
    names = []

    def run():
        F.multiprocessing._set_thread_name("a name longer than it may be")
        names.append(F.multiprocessing._get_thread_name())
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert names == ["a name longer t"] and F.multiprocessing._get_thread_name() != names[0]


@FRAMEWORKS
def test_helpers_of_compiled_programs(F):
    assert F.jit._unwrap_optional(3) == 3 and F.jit._drop(_helper) is _helper
    with pytest.raises(AssertionError, match="Unwrapping null optional"):
        F.jit._unwrap_optional(None)
    internal = module(F, "_jit_internal")
    assert internal._copy_to_script_wrapper(_helper) is _helper
    chosen = internal.boolean_dispatch("flag", 1, False, _yes, _no, "module", "chosen")
    assert chosen(0, flag=True) == "yes" and chosen(0) == "no"
    assert internal.boolean_dispatched[chosen] == {"if_true": _yes, "if_false": _no, "index": 1, "default": False, "arg_name": "flag"}


def _helper():
    pass


def _yes(x, flag=True):
    return "yes"


def _no(x, flag=False):
    return "no"


@FRAMEWORKS
def test_attributes_of_a_pickle(F):
    class Slots:
        __slots__ = ("a", "b")
    done = module(F, "_utils")._set_obj_state(Slots(), ({"a": 1}, {"b": 2}))
    assert (done.a, done.b) == (1, 2) and module(F, "_utils")._set_obj_state(Slots(), {"a": 3}).a == 3
    module(F, "_utils")._set_obj_state(Slots(), (None, None))
    with pytest.raises(RuntimeError, match="Invalid serialized state"):
        module(F, "_utils")._set_obj_state(Slots(), (1, 2, 3))


@FRAMEWORKS
def test_what_rules_leave_as_it_is(F):
    assert F.overrides.get_default_nowrap_functions() == {F.Tensor._base.__get__, F.Tensor.grad.__get__, F.Tensor._grad.__get__}
    assert F.overrides._len_torch_function_stack() == 0
    with F.overrides.BaseTorchFunctionMode():
        assert F.overrides._len_torch_function_stack() == 1


@FRAMEWORKS
def test_tests_for_each_of_several_values(F):
    common, seen = module(F, "testing._internal.common_utils"), []
    parametrize, subtest = common.parametrize, common.subtest

    class Tests(unittest.TestCase):
        @parametrize("x", [1, 2.5, "a", F.float32, F.device("cpu"), (1,), None])
        def test_a(self, x):
            seen.append(str(x))

        @parametrize("x,y", [(1, 2), subtest((3, 4), name="large", decorators=[unittest.skip("as it says")])])
        @parametrize("z", [5, 6])
        def test_b(self, x, y, z):
            seen.append((x, y, z))

        @parametrize("x", [1], name_fn=lambda x: f"n{x}")
        @common.skipIfTorchDynamo("there is none")
        def test_c(self, x):
            seen.append("c")
    assert common.instantiate_parametrized_tests(Tests) is Tests
    assert [n for n in dir(Tests) if n.startswith("test_")] == [
        "test_a_cpu", "test_a_float32", "test_a_x5", "test_a_x6", "test_a_x_1", "test_a_x_2_5", "test_a_x_a", "test_b_large_z_5", "test_b_large_z_6",
        "test_b_x_1_y_2_z_5", "test_b_x_1_y_2_z_6", "test_c_n1"]
    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(Tests).run(result)
    assert result.wasSuccessful() and len(result.skipped) == 2
    assert seen == ["cpu", "torch.float32", "(1,)", "None", "1", "2.5", "a", (1, 2, 5), (1, 2, 6), "c"]
    assert common.SEED == 1234 and common.IS_LINUX


@FRAMEWORKS
@pytest.mark.parametrize("names, values, error, words", [
    ("x,y", [(1,)], RuntimeError, "got: 1 values and 2 names"), ("x", [], ValueError, "An empty arg_values"),
    ("x", [1, 1], AssertionError, "Redefinition of test test_a_x_1")])
def test_values_that_make_no_tests(F, names, values, error, words):
    common = module(F, "testing._internal.common_utils")

    class Tests(unittest.TestCase):
        @common.parametrize(names, values)
        def test_a(self, **given):
            pass
    with pytest.raises(error, match=words):
        common.instantiate_parametrized_tests(Tests)


@FRAMEWORKS
def test_a_parameter_of_two_decorators_is_refused(F):
    common = module(F, "testing._internal.common_utils")

    class Tests(unittest.TestCase):
        @common.parametrize("x", [1])
        @common.parametrize("x", [2])
        def test_a(self, x):
            pass
    with pytest.raises(RuntimeError, match="multiple parametrization decorators"):
        common.instantiate_parametrized_tests(Tests)


@FRAMEWORKS
def test_plain_numbers_have_no_symbols(F):
    shapes = module(F, "fx.experimental.symbolic_shapes")
    assert not shapes.has_free_symbols(3) and not shapes.is_symbolic(3) and shapes.optimization_hint(3) == 3
    assert not shapes.free_symbols([1, 2]) and not shapes.free_unbacked_symbols(F.ones(2))
    key = shapes.DivideByKey(2)
    assert str(key) == ".__floordiv__(2)" and key.get(7) == 3 and key == shapes.DivideByKey(2)
    error = shapes.GuardOnDataDependentSymNode("cond", "text")
    assert isinstance(error, RuntimeError) and error.cond == "cond" and str(error) == "text"
    proxies = module(F, "fx.experimental.proxy_tensor")
    assert proxies.get_innermost_proxy_mode() is None
    with proxies.disable_proxy_modes_tracing() as mode:
        assert mode is None


@FRAMEWORKS
def test_scopes_of_the_profiler_as_ops(F):
    ops = F.ops.profiler
    with F.profiler.profile(activities=[F.profiler.ProfilerActivity.CPU]) as prof:
        scope = ops._record_function_enter_new("scope of an op", None)
        F.ones(2).add(1)
        ops._record_function_exit._RecordFunction(scope)
    assert "scope of an op" in [event.key for event in prof.key_averages()]
    assert str(ops._record_function_enter_new) == "profiler._record_function_enter_new" and ops._record_function_exit.default is not None


@FRAMEWORKS
def test_classes_of_ops(F):
    ops = module(F, "_ops")
    assert ops.ops is F.ops and type(F.ops.aten) is ops._OpNamespace
    assert issubclass(ops.OpOverload, ops.OperatorBase) and issubclass(ops.HigherOrderOperator, ops.OperatorBase)
    assert not isinstance(F.relu, ops.HigherOrderOperator)


@pytest.mark.parametrize("use", [
    "multiprocessing.reductions.StorageWeakRef", "multiprocessing.reductions.rebuild_cuda_tensor", "jit.annotations.try_ann_to_type",
    "testing.FileCheck", "fx.experimental.symbolic_shapes.StatelessSymbolicContext", "fx.experimental.proxy_tensor.track_tensor_tree"])
def test_what_is_not_there_says_so(use):
    path, _, name = use.rpartition(".")
    with pytest.raises(NotImplementedError):
        getattr(module(weir, path), name)()
    with pytest.raises(NotImplementedError):
        weir.jit.ScriptModule.save(weir.nn.Linear(1, 1), "path")
    with pytest.raises(NotImplementedError):
        weir._ops.HigherOrderOperator("name")
