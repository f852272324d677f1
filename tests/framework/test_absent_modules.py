"""Every module of PyTorch imports: weir's own, or its name, which raises when used (framework/weir/_absent_modules.py)."""

import importlib
import subprocess
import sys
from pathlib import Path

import pytest
import weir

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import update_absent_modules  # noqa: E402


def test_the_table_is_up_to_date():
    assert update_absent_modules.TABLE.read_text() == update_absent_modules.table()


def test_every_module_imports():
    needs = []
    for path in update_absent_modules.modules_of_pytorch():
        try:
            importlib.import_module(f"weir.{path}")
        except ModuleNotFoundError as error:
            needs.append(error.name)
    assert not [name for name in needs if name.startswith("weir")]  # TensorBoard may not be installed


def test_functions_keep_their_place_beside_modules_of_their_name():
    import weir.autograd.gradcheck  # noqa: F401
    x = weir.ones(2, dtype=weir.float64, requires_grad=True)
    assert weir.autograd.gradcheck(weir.sin, (x,))


def test_a_module_that_pytorch_has_not_is_not_found():
    with pytest.raises(ModuleNotFoundError, match="weir.distributed.nonsense"):
        importlib.import_module("weir.distributed.nonsense")


def test_what_is_taken_raises_when_used():
    from weir.ao.quantization.observer import MinMaxObserver
    from weir.distributed.fsdp import FullyShardedDataParallel

    class Mine(MinMaxObserver):  # classes of programs are made at import
        pass
    for kind, words in ((FullyShardedDataParallel, "no collectives"), (MinMaxObserver, "no quantised"), (Mine, "no quantised")):
        with pytest.raises(NotImplementedError, match=words):
            kind()
    assert not isinstance(weir.nn.Linear(1, 1), FullyShardedDataParallel)


def test_a_module_and_a_function_may_share_a_name():
    with pytest.raises(NotImplementedError, match="torch.distributed.fsdp.wrap: weir has no collectives yet"):
        weir.distributed.fsdp.wrap(None)


def test_what_the_package_has_its_modules_have():
    from weir.optim.adagrad import Adagrad
    from weir.signal.windows.windows import hann
    assert Adagrad is weir.optim.Adagrad and hann is weir.signal.windows.hann


def test_quantised_layers_are_no_layers_of_floats():
    from weir.nn.quantized.modules.linear import Linear
    assert Linear is not weir.nn.Linear
    with pytest.raises(NotImplementedError):
        Linear(2, 2)


def test_running_such_a_module_says_what_is_missing():
    done = subprocess.run([sys.executable, "-m", "weir", "-m", "torch.distributed.run", "train.py"], capture_output=True, text=True)
    assert done.returncode and "NotImplementedError: torch.distributed.run: weir has no collectives yet" in done.stderr


def test_a_program_that_asks_whether_it_is_there_is_told():
    assert weir.distributed.rpc.is_available() is False


def test_members_of_what_is_missing_are_missing_too():
    from weir.distributed.fsdp import FullyShardedDataParallel, ShardingStrategy

    def shard(strategy=ShardingStrategy.FULL_SHARD):  # programs write such defaults
        return strategy
    assert shard() is ShardingStrategy.FULL_SHARD is not ShardingStrategy.NO_SHARD
    with pytest.raises(NotImplementedError, match="FullyShardedDataParallel.optim_state_dict: weir has no collectives yet"):
        FullyShardedDataParallel.optim_state_dict(None, None)
    with pytest.raises(AttributeError):
        FullyShardedDataParallel._nonsense


def test_members_of_a_subclass_are_those_of_its_base():
    from weir.ao.quantization.observer import MinMaxObserver

    class Mine(MinMaxObserver):
        own = 1
    assert Mine.own == 1 and Mine.with_args is MinMaxObserver.with_args


def test_errors_that_are_missing_can_be_caught():
    from weir._dynamo.exc import TorchRuntimeError
    with pytest.raises(KeyError):
        try:
            raise KeyError
        except TorchRuntimeError:
            pass



def test_what_is_asked_for_is_not_there():
    from weir._native.dsl_registry import dsl_registry
    from weir.utils._triton import has_triton
    assert dsl_registry.is_dsl_available("any") is False and has_triton() is False and weir.distributed.rpc.is_available() is False
