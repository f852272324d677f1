"""torch.func.rearrange against PyTorch: axes split, ordered and merged by a pattern, and patterns that are none."""
import pytest
import torch
import torch.func
import weir
import weir.func

RIGHT = [("b h w c -> c (w b) h", {}), ("b (h1 h) w c -> (b h1) h w c", {"h1": 2}), ("b (h h1) (w w1) c -> b h w (c h1 w1)", {"h1": 2, "w": 5}),
         ("... c -> c (...)", {}), ("b ... c -> c ... b", {}), ("b h w c ... -> ... c w h b", {}), ("b h w c -> b 1 h (w 1 c) ()", {}), ("b(h g)w c->(b w)(c h)g", {"g": 4}),
         ("b h (w 1) c -> b (h c) w", {"b": 2})]
WRONG = [("b h w c", {}), ("b h w c -> b -> h", {}), ("b h w c -> b h w", {}), ("b h w c c -> b h w c", {}), ("b (h (w c)) d -> b h w c d", {}), ("b (h w c -> b h w c", {}),
         ("b) h w c -> b h w c", {}), ("b h w 3 -> b h w 3", {}), ("_b h w c -> _b h w c", {}), ("b h w c. -> b h w c.", {}), ("... b ... -> b ...", {}),
         ("b (...) -> b ...", {}), ("b h -> b ... h", {}), ("b h w c -> b h w c", {"q": 2}), ("b h w c -> b h w c", {"b": 2.0}), ("b h w c -> b h w c", {"b": True}),
         ("b h w c -> b h w c", {"h": 5}), ("b (h g) w c -> b h g w c", {}), ("b (h g) w c -> b h g w c", {"h": 3}), ("b (h g) w c -> b h g w c", {"h": 0}),
         ("b (h g) w c -> b h g w c", {"h": 2, "g": 3}), ("b h w -> b h w", {}), ("b h w c d ... -> b h w c d ...", {}), ("b\th w c -> b h w c", {}), ("b, h w c -> h w c b", {})]


def images(t):
    return t.arange(240.).reshape(2, 4, 10, 3)


@pytest.mark.parametrize("pattern, lengths", RIGHT)
def test_axes_stand_as_the_pattern_says(pattern, lengths):
    want, got = (t.func.rearrange(images(t), pattern, **lengths) for t in (torch, weir))
    assert (got.shape, got.tolist()) == (tuple(want.shape), want.tolist())


@pytest.mark.parametrize("shape, pattern", [((), "->"), ((), "... -> (...)"), ((), " -> 1"), ((3, 1), "a 1 -> a"), ((3, 1, 0), "a () b -> (b a)"), ((3, 2), "a 1 -> a")])
@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_axes_of_one_and_none(shape, pattern, dtype):
    want, got = (t.func.rearrange(t.ones(shape, dtype=getattr(t, dtype)), pattern) for t in (torch, weir))
    assert (got.shape, got.tolist(), str(got.dtype)) == (tuple(want.shape), want.tolist(), str(want.dtype))


@pytest.mark.parametrize("pattern, lengths", WRONG)
def test_errors_are_of_pytorchs_classes(pattern, lengths):
    raised = []
    for t in (torch, weir):
        with pytest.raises(Exception) as error:
            t.func.rearrange(images(t), pattern, **lengths)
        raised.append(error.type.__name__)
    assert raised[0] == raised[1]


def test_lists_are_stacked_and_gradients_flow():
    grads = []
    for t in (torch, weir):
        x = t.arange(6.).reshape(2, 3).requires_grad_()
        t.func.rearrange([x, x * 2], "l a b -> b (a l)").pow(2).sum().backward()
        grads.append(x.grad.tolist())
    assert grads[0] == grads[1]


def test_what_need_not_move_is_a_view():
    x = weir.arange(12.).reshape(3, 4)
    assert weir.func.rearrange(x, "a (b c) -> b a c", b=2).data_ptr() == x.data_ptr()
