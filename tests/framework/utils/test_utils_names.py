"""torch.utils: what programs import of it though PyTorch calls it private, as PyTorch has it."""
import collections
import enum
import importlib
import json
import os
import sys
import threading
import time

import pytest
import torch
import torch.utils._pytree
import torch.utils.cpp_extension
import weir

FRAMEWORKS = pytest.mark.parametrize("F", [weir, torch], ids=["weir", "torch"])


def module(F, path):
    return importlib.import_module(f"{F.__name__}.utils.{path}")


class Colour(enum.Enum):
    RED = 1


Pair = collections.namedtuple("Pair", "a b")
Known = collections.namedtuple("Known", "x")


class Box:
    def __init__(self, value, label):
        self.value, self.label = value, label


for _F in (weir, torch):
    _F.utils._pytree._register_namedtuple(Known, serialized_type_name="tests.Known")
    _F.utils._pytree.register_pytree_node(Box, lambda b: ([b.value], b.label), lambda v, label: Box(v[0], label), serialized_type_name="tests.Box")


@pytest.mark.parametrize("tree", [3, [1, (2, {"a": 3})], (), collections.deque([1], maxlen=3), collections.defaultdict(int, a=1),
                                  collections.OrderedDict(a=1), Known(4), Box(1, Colour.RED), [Box([1, 2], "text")]])
def test_structures_travel_as_text(tree):
    ours, theirs = (F.utils._pytree for F in (weir, torch))
    text = theirs.treespec_dumps(theirs.tree_structure(tree))
    assert ours.treespec_dumps(ours.tree_structure(tree)) == text
    assert ours.treespec_loads(text) == ours.tree_structure(tree)


@FRAMEWORKS
def test_structures_that_have_no_text(F):
    pytree = F.utils._pytree
    for tree, error, words in ((Pair(1, 2), NotImplementedError, "Can't serialize TreeSpec of namedtuple class"),
                               ({Colour: 1}, TypeError, "Unable to serialize context")):
        with pytest.raises(error, match=words):
            pytree.treespec_dumps(pytree.tree_structure(tree))
    with pytest.raises(TypeError, match="instance of PyTreeSpec"):
        pytree.treespec_dumps(3)
    with pytest.raises(ValueError, match="Unknown protocol 7"):
        pytree.treespec_dumps(pytree.tree_structure(3), 7)
    with pytest.raises(NotImplementedError, match="Deserializing nonsense in pytree is not registered"):
        pytree.treespec_loads('[1, {"type": "nonsense", "context": "null", "children_spec": []}]')
    assert isinstance(pytree.KeyEntry, type)


@pytest.mark.parametrize("context", [
    '{"default_factory_module": "antigravity", "default_factory_name": "fly", "dict_context": []}',
    '{"default_factory_module": "os", "default_factory_name": "getpid", "dict_context": []}'])
def test_a_text_brings_no_code_in(context):
    """PyTorch imports what a text names."""
    with pytest.raises(ValueError, match="expected a class of an imported module"):
        weir.utils._pytree.treespec_loads('[1, {"type": "collections.defaultdict", "context": %s, "children_spec": []}]' % context)
    colour = json.dumps('{"__enum__": true, "fqn": "os:getpid", "name": "RED"}')
    with pytest.raises(ValueError, match="os:getpid"):
        weir.utils._pytree.treespec_loads('[1, {"type": "tests.Box", "context": %s, "children_spec": []}]' % colour)
    assert "antigravity" not in sys.modules


@FRAMEWORKS
def test_helpers_of_checkpoints(F):
    checkpoint = module(F, "checkpoint")
    assert [checkpoint._policy_from_bool(b).name for b in (True, False)] == ["MUST_SAVE", "PREFER_RECOMPUTE"]
    x = F.ones(2, requires_grad=True)
    kept = checkpoint._VersionWrapper(x.detach())
    assert kept.get_val(False) is kept.val and checkpoint._VersionWrapper(3).get_val(False) == 3
    kept.val.add_(1)
    with pytest.raises(RuntimeError, match="has been mutated"):
        kept.get_val(False)
    assert kept.get_val(True) is kept.val
    assert not checkpoint._detach_helper(x).requires_grad and checkpoint._detach_helper("text") == "text"
    with F.autocast("cpu", F.bfloat16):
        assert checkpoint._get_autocast_kwargs("cpu") == ({"enabled": True, "dtype": F.bfloat16, "cache_enabled": True},) * 2
    assert checkpoint._get_device_module("cpu") is F.cpu and checkpoint._get_device_module("meta") == F.device("meta")
    assert checkpoint._infer_device_type(x, [x]) == "cpu" and checkpoint._infer_device_type({"a": F.ones(1, device="meta")}) == "meta"


@FRAMEWORKS
def test_a_checkpoint_around_a_call_of_the_programs_own(F):
    calls = []

    def function(x):
        calls.append(1)
        return x.exp().exp()
    x = F.ones(2, requires_grad=True)
    around = module(F, "checkpoint")._checkpoint_without_reentrant_generator(function, True, lambda: (_Noting(calls, 2), _Noting(calls, 3)), "default", False, True, x)
    next(around)
    y = function(x)
    with pytest.raises(StopIteration):
        next(around)
    y.sum().backward()
    assert calls == [2, 1, 3, 1] and x.grad is not None


class _Noting:
    def __init__(self, calls, what):
        self.calls, self.what = calls, what

    def __enter__(self):
        self.calls.append(self.what)

    def __exit__(self, *exception):
        pass


@FRAMEWORKS
def test_hooks_round_a_call(F):
    seen = []

    class Module(F.nn.Module):
        pass
    owner = Module()
    hook = F.utils.hooks.BackwardHook(owner, [lambda m, given, got: seen.append((m is owner, given[1], got[0].tolist())) or (given[0] * 2, None)],
                                      [lambda m, got: (got[0] * 3,)])
    x = F.ones(2, requires_grad=True)
    first, second = hook.setup_input_hook((x, "text"))
    assert second == "text"
    hook.setup_output_hook(first * 5).sum().backward()
    assert seen == [(True, None, [3.0, 3.0])] and x.grad.tolist() == [30.0, 30.0]


@FRAMEWORKS
def test_no_dispatch_modes_are_in_force(F):
    with module(F, "_python_dispatch")._disable_current_modes() as modes:
        assert list(modes) == []


@FRAMEWORKS
def test_shapes_of_attention_over_sequences(F):
    unpack = module(F, "flop_counter")._unpack_flash_attention_nested_shapes
    q = F.ones(2, 4, 5, 8)
    assert [tuple(map(tuple, s[:3])) + s[3:] for s in unpack(query=q, key=q, value=q, cum_seq_q=None, cum_seq_k=None, max_q=0, max_k=0)] == [
        ((2, 4, 5, 8),) * 3 + (None,)]
    q, k = F.ones(5, 4, 8), F.ones(7, 2, 8)
    offsets = {"cum_seq_q": F.tensor([0, 2, 5]), "cum_seq_k": F.tensor([0, 3, 7]), "max_q": 3, "max_k": 4}
    assert list(unpack(query=q, key=k, value=k, grad_out=q, **offsets)) == [
        ((1, 4, 2, 8), (1, 2, 3, 8), (1, 2, 3, 8), (1, 4, 2, 8)), ((1, 4, 3, 8), (1, 2, 4, 8), (1, 2, 4, 8), (1, 4, 3, 8))]
    with pytest.raises(AssertionError):
        list(unpack(query=q, key=k, value=F.ones(1), **offsets))


@FRAMEWORKS
def test_questions_before_an_extension_is_built(F, monkeypatch, tmp_path):
    cpp = module(F, "cpp_extension")
    monkeypatch.setenv("TORCH_EXTENSIONS_DIR", str(tmp_path))
    assert cpp._get_build_directory("ext", False) == str(tmp_path / "ext") and (tmp_path / "ext").is_dir()
    monkeypatch.setenv("CUDA_HOME", "/some/where")
    assert cpp._find_cuda_home() == "/some/where" and cpp.HIP_HOME is cpp.CUDA_HOME is None
    monkeypatch.setenv("CXX", "clang++")
    assert cpp.get_cxx_compiler() == "clang++" and [cpp._is_cuda_file(p) for p in ("a.cu", "a.cuh", "a.cpp")] == [True, True, False]
    with pytest.raises(OSError, match="CUDA_HOME environment variable is not set"):
        cpp._join_cuda_home("bin")
    with pytest.raises(OSError, match="Please set it to your ROCm install root"):
        cpp._join_rocm_home("bin")
    file = tmp_path / "text"
    cpp._maybe_write(file, "a")
    os.utime(file, (1, 1))
    cpp._maybe_write(file, "a")
    assert file.stat().st_mtime == 1
    cpp._maybe_write(file, "b")
    assert file.read_text() == "b" and os.path.isdir(cpp._TORCH_PATH)


def test_facts_of_extensions():
    for name in ("CUDA_GCC_VERSIONS", "MINIMUM_GCC_VERSION", "COMMON_HIP_FLAGS", "SUBPROCESS_DECODE_ARGS"):
        assert getattr(weir.utils.cpp_extension, name) == getattr(torch.utils.cpp_extension, name)


@FRAMEWORKS
def test_a_file_is_a_lock(F, tmp_path):
    FileBaton = module(F, "file_baton").FileBaton
    path = str(tmp_path / "lock")
    mine, other = FileBaton(path), FileBaton(path, wait_seconds=0.01, warn_after_seconds=0.02)
    assert mine.try_acquire() and not other.try_acquire()
    releasing = threading.Thread(target=lambda: (time.sleep(0.2), mine.release()))
    releasing.start()
    with pytest.warns(UserWarning, match="Waited on lock file"):
        other.wait()
    releasing.join()
    assert other.try_acquire()
    other.release()


@FRAMEWORKS
def test_fetchers_can_be_replaced(F, monkeypatch):
    data, fetch = F.utils.data, module(F, "data._utils.fetch")

    class Doubling(fetch._MapDatasetFetcher):
        def fetch(self, index):
            return super().fetch(index) * 2
    monkeypatch.setattr(fetch, "_MapDatasetFetcher", Doubling)
    for workers in (0, 1):
        assert [b.tolist() for b in data.DataLoader([1, 2, 3], batch_size=2, num_workers=workers, multiprocessing_context="fork" if workers else None)] == [[2, 4], [6]]
    made = data._DatasetKind.create_fetcher(data._DatasetKind.Map, [1, 2], True, list, False)
    assert made.fetch([1]) == [2, 2]


@FRAMEWORKS
def test_the_worker_loop_can_be_replaced(F, monkeypatch):
    worker, fetch = module(F, "data._utils.worker"), module(F, "data._utils.fetch")
    loop, before = worker._worker_loop, fetch._MapDatasetFetcher.fetch

    def patched(*args, **kwargs):
        fetch._MapDatasetFetcher.fetch = lambda self, index: before(self, index) + 100
        return loop(*args, **kwargs)
    monkeypatch.setattr(worker, "_worker_loop", patched)
    loader = F.utils.data.DataLoader([1, 2], num_workers=1, multiprocessing_context="fork")
    assert [b.tolist() for b in loader] == [[101], [102]] and fetch._MapDatasetFetcher.fetch is before


@FRAMEWORKS
def test_a_stream_that_ended_stays_ended(F):
    class Stream(F.utils.data.IterableDataset):
        def __iter__(self):
            return iter(range(3))
    kind = F.utils.data._DatasetKind
    made = kind.create_fetcher(kind.Iterable, Stream(), True, list, False)
    assert made.fetch([0, 0]) == [0, 1] and made.fetch([0, 0]) == [2]
    with pytest.raises(StopIteration):
        made.fetch([0, 0])
    with pytest.raises(StopIteration):
        kind.create_fetcher(kind.Iterable, Stream(), True, list, True).fetch([0] * 4)


@FRAMEWORKS
def test_workers_of_a_programs_own(F, monkeypatch):
    worker = module(F, "data._utils.worker")
    monkeypatch.setattr(worker, "_worker_info", worker.WorkerInfo(id=1, num_workers=2, seed=3, dataset=[]))
    assert F.utils.data.get_worker_info().id == 1 and module(F, "data.dataloader").get_worker_info().num_workers == 2
    assert worker._IterableDatasetStopIteration(3).worker_id == 3 and worker._ResumeIteration().seed is None
    assert worker.ManagerWatchdog().is_alive()
    utils = module(F, "data.dataloader")._utils
    assert utils.HAS_NUMPY and utils.python_exit_status is False and issubclass(utils.ExceptionWrapper, object)


@FRAMEWORKS
def test_small_facts_of_data(F):
    data = F.utils.data
    assert data.ConcatDataset.cumsum([[1], [2, 3], []]) == [1, 3, 3]
    forever = iter(module(F, "data.dataloader")._InfiniteConstantSampler())
    assert [next(forever) for _ in range(3)] == [None] * 3
    assert module(F, "data.dataloader")._T_co.__covariant__ and isinstance(module(F, "_import_utils").dill_available(), bool)


def test_what_is_not_there_says_so():
    for name in ("cpp_extension._jit_compile", "cpp_extension._get_cuda_arch_flags", "data.dataloader._sharding_worker_init_fn",
                 "_python_dispatch.return_and_correct_aliasing", "checkpoint._CachedTorchDispatchMode"):
        path, _, attribute = name.rpartition(".")
        with pytest.raises(NotImplementedError):
            getattr(module(weir, path), attribute)()
