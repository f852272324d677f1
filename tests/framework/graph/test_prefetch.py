"""framework/weir/_prefetch.py and framework/binding/channel.cpp: items of a thread of its own, in order, and never too many."""

import gc
import sys
import threading
import weakref

import pytest
import weir
from weir.nn.graph import prefetch


def test_items_come_in_order():
    assert list(prefetch(range(100), 3)) == list(range(100))
    assert list(prefetch([], 1)) == []
    assert list(prefetch([None, None], 1)) == [None, None]


@pytest.mark.parametrize("credits", [1, 2, 5])
def test_no_more_is_made_than_credits_allow(credits):
    made = []

    def source():
        for i in range(50):
            made.append(i)
            yield i

    items = prefetch(source(), credits)
    for taken in range(1, 51):
        next(items)
        assert len(made) <= taken + credits + 1  # one more is in the producer's hand


def test_items_are_made_ahead():
    ahead = threading.Event()

    def source():
        yield 1
        ahead.set()
        yield 2

    items = prefetch(source(), 1)
    assert next(items) == 1
    assert ahead.wait(timeout=60)  # though nobody has asked for the second
    assert list(items) == [2]


def test_an_exception_comes_where_its_item_would_have():
    def source():
        yield 1
        yield 2
        raise KeyError("lost")

    items = prefetch(source())
    assert [next(items), next(items)] == [1, 2]
    with pytest.raises(KeyError, match="lost"):
        next(items)
    assert list(items) == []


def test_closing_ends_the_thread_and_lets_go_of_items():
    class Item:
        pass

    known = []

    def source():
        while True:
            item = Item()
            known.append(weakref.ref(item))
            yield item

    before = threading.active_count()
    items = prefetch(source(), 3)
    next(items)
    items.close()
    del items
    gc.collect()
    assert threading.active_count() == before
    assert all(ref() is None for ref in known)


def test_an_iterator_that_was_never_used_starts_no_thread():
    before = threading.active_count()
    prefetch(range(3))
    assert threading.active_count() == before


def test_references_are_kept_and_dropped():
    item = object()
    count = sys.getrefcount(item)
    for got in prefetch([item] * 20, 4):
        assert got is item
    del got
    assert sys.getrefcount(item) == count


def test_a_graph_trains_on_it_as_on_the_data_itself():
    def train(wrap):
        weir.manual_seed(0)
        model = weir.nn.Linear(5, 3)
        optimizer = weir.optim.SGD(model.parameters(), lr=0.1)

        class Step(weir.nn.Graph):
            def __init__(self):
                super().__init__()
                self.model = model
                self.add_optimizer(optimizer)

            def build(self, x):
                loss = self.model(x).square().mean()
                loss.backward()
                return loss

        step = Step()
        data = weir.utils.data.DataLoader(weir.arange(200.0).view(40, 5).sin(), batch_size=4)
        return [step(x).item() for x in wrap(data)]

    assert train(prefetch) == train(iter)


@pytest.mark.parametrize("credits", [0, -1, 1.0, True, None])
def test_credits_are_a_positive_number(credits):
    with pytest.raises(ValueError, match="prefetch: expected a positive number of credits"):
        prefetch([], credits)


def test_what_is_no_iterable_is_refused_at_once():
    with pytest.raises(TypeError):
        prefetch(3)
