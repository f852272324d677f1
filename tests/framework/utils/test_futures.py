"""Values that come later, their callbacks and errors, against PyTorch."""

import pickle

import pytest
import torch
import torch.futures  # noqa: F401
import weir


def failing(future):
    raise ValueError("expected")


def finished(t, value):
    future = t.futures.Future()
    future.set_result(value)
    return future


def broken(t):
    future = t.futures.Future()
    future.set_exception(ValueError("expected"))
    return future


def in_order(t):
    future, calls = t.futures.Future(), []
    future.add_done_callback(failing)
    future.add_done_callback(lambda f: calls.append(f.value()))
    following = future.then(lambda f: f.wait() + 1)
    future.set_result(5)
    future.add_done_callback(failing)
    return future.wait(), following.wait(), calls


PROGRAMS = {
    "callbacks": in_order, "all": lambda t: t.futures.wait_all([finished(t, 1), finished(t, 2)]), "collected": lambda t: [f.value() for f in t.futures.collect_all([finished(t, 1)]).wait()],
    "error": lambda t: broken(t).wait(), "error as value": lambda t: broken(t).value(), "error of a callback": lambda t: finished(t, 5).then(failing).wait(),
    "error of one among all": lambda t: t.futures.wait_all([finished(t, 5).then(failing)]), "error passed on": lambda t: broken(t).then(lambda f: f.value()).wait(),
    "wrong callback": lambda t: finished(t, 5).then(lambda: 1).wait(), "none among all": lambda t: t.futures.wait_all([None]), "none to collect": lambda t: t.futures.collect_all([finished(t, 1), None]),
    "none": lambda t: t.jit.wait(None), "pickled": lambda t: pickle.dumps(t.futures.Future()), "set twice": lambda t: finished(t, 1).set_result(2),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_as_pytorch(name):
    def outcome(t):
        try:
            return PROGRAMS[name](t)
        except Exception as error:
            return type(error)
    assert outcome(weir) == outcome(torch)
