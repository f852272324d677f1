"""Sampling at places of a grid against PyTorch."""

import pytest
import torch
import weir
from twins import assert_same

NAN, INF = float("nan"), float("inf")
RANKS = {2: (4, 5), 3: (3, 4, 5)}


@pytest.mark.parametrize("rank", RANKS)
@pytest.mark.parametrize("mode", [0, 1, 2])
@pytest.mark.parametrize("padding", [0, 1, 2])
@pytest.mark.parametrize("align", [False, True])
def test_grid_sampler(rank, mode, padding, align):
    x = torch.randn(2, 3, *RANKS[rank], generator=torch.manual_seed(0))
    grid = torch.rand(2, *[3, 2, 4][:rank], rank, generator=torch.manual_seed(1)) * 3 - 1.5
    call = lambda t, x, g: t.grid_sampler(x, g, mode, padding, align)  # noqa: E731
    for dtype in (torch.float32, torch.float64):
        assert_same(call, x.to(dtype, copy=True).requires_grad_(), grid.to(dtype, copy=True).requires_grad_(), order=1)
    grid[0, 0, 0], grid[1, 0, 0] = NAN, INF
    if mode < 2 or rank == 2 and padding < 2:
        assert_same(call, x, grid)


@pytest.mark.parametrize("layout", [lambda x: x.mT, lambda x: x[..., ::2], lambda x: x.permute(0, 2, 3, 1).contiguous().permute(0, 3, 1, 2), lambda x: x[:1].expand(2, -1, -1, -1)])
@pytest.mark.parametrize("padding", [0, 1, 2])
def test_few_points_of_pictures_that_are_not_dense(padding, layout):
    x, grid = torch.randn(2, 3, 40, 40, generator=torch.manual_seed(0)), torch.rand(2, 3, 7, 2, generator=torch.manual_seed(1)) * 3 - 1.5
    for dtype in (torch.float32, torch.float64):
        assert_same(lambda t, x, g: t.grid_sampler(layout(x), g, 0, padding, False), x.to(dtype), grid.to(dtype))


@pytest.mark.parametrize("rank", RANKS)
@pytest.mark.parametrize("align", [False, True])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_places_of_halves_are_rounded_at_each_step(rank, align, dtype):
    """Far outside, that decides where a mirror sends them."""
    x = torch.arange(7).reshape(1, 1, *[1] * (rank - 1), 7).to(dtype)
    grid = torch.zeros(1, *[1] * (rank - 1), 200, rank, dtype=dtype)
    grid[..., 0] = torch.randn(200, generator=torch.manual_seed(0)) * 50
    for mode in (0, 1):
        call = lambda t, x, g: t.grid_sampler(x, g, mode, 2, align)  # noqa: B023, E731
        assert_same(call, x, grid.clone().requires_grad_(), order=1, rtol=4e-2)


@pytest.mark.parametrize("mode", [0, 1])
@pytest.mark.parametrize("padding", [-1, 3])
def test_volumes_of_an_unknown_padding(mode, padding):
    x, grid = torch.randn(2, 3, *RANKS[3], generator=torch.manual_seed(0)), torch.rand(2, 3, 2, 4, 3, generator=torch.manual_seed(1)) * 3 - 1.5
    for name in ("grid_sampler", "grid_sampler_3d"):
        assert_same(lambda t, x, g: getattr(t, name)(x, g, mode, padding, False), x.requires_grad_(), grid.requires_grad_(), order=1)
    with pytest.raises(RuntimeError):
        weir.grid_sampler(weir.ones(1, 1, 2, 2), weir.zeros(1, 1, 1, 2), mode, padding, False)


def test_modes_of_more_than_32_bits():
    for rank in RANKS:
        x, grid = torch.randn(2, 3, *RANKS[rank], generator=torch.manual_seed(0)), torch.rand(2, *[3, 2, 4][:rank], rank, generator=torch.manual_seed(1)) * 3 - 1.5
        for mode, padding in ((-2**63, 2), (2**32 + 1, 2**40 + 1)):
            for name in ("grid_sampler", f"grid_sampler_{rank}d"):
                assert_same(lambda t, x, g: getattr(t, name)(x, g, mode, padding, False), x, grid)  # noqa: B023


@pytest.mark.parametrize("align", [False, True])
def test_affine_grid(align):
    for rank, size in ((2, [2, 3, 4, 5]), (3, [2, 3, 4, 1, 2]), (2, [2, 3, 4]), (2, [2, 3, 0, 1]), (3, [2, 3, 4, 5])):
        theta = torch.randn(2, rank, rank + 1, generator=torch.manual_seed(0), requires_grad=True)
        assert_same(lambda t, x: t.nn.functional.affine_grid(x, size, align), theta, rtol=1e-3)
        assert_same(lambda t, x: t.affine_grid_generator(x, size, align), theta.detach(), rtol=1e-3)
        assert_same(lambda t, x: t.affine_grid_generator(x[0], size, align), theta.detach())


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_grids_of_halves_have_no_axis_of_one_place(dtype):
    for size in ([2, 1, 3, 1], [2, 1, 1, 3], [2, 1, 3, 0], [2, 1, 3, 2]):
        assert_same(lambda t, x: t.affine_grid_generator(x, size, True), torch.ones(2, 2, 3, dtype=dtype), what=f"{size}")


def test_refusals():
    image = torch.ones(1, 2, 3, 4)
    for shape in ((1, 1, 1, 2), (2, 1, 1, 2), (1, 1, 1, 3), (1, 1, 2), (1, 1, 1, 1, 3), (1, 0, 1, 2)):
        for x in (image, image[:, :, :0], image[:, :0], image.long(), image.double(), image[0], image[:0]):
            for name in ("grid_sampler", "grid_sampler_2d", "grid_sampler_3d"):
                assert_same(lambda t, x: getattr(t, name)(x, t.zeros(*shape, dtype=x.dtype), 0, 0, False), x, what=f"{name} {shape} {x.shape}")
            assert_same(lambda t, x: t.nn.functional.grid_sample(x, t.zeros(*shape)), x)
    assert_same(lambda t, x: t.nn.functional.grid_sample(x, t.zeros(1, 1, 1, 2), "cubic"), image)
    assert_same(lambda t, x: t.nn.functional.grid_sample(x, t.zeros(1, 1, 1, 2), padding_mode="wrap"), image)


@pytest.mark.parametrize("mode, padding", [(0, 0), *[(mode, padding) for mode in (1, 2) for padding in (0, 1, 2)]])  # PyTorch writes outside its memory at the others
@pytest.mark.parametrize("place", [(NAN, 0.1), (0.1, NAN), (INF, 0.1), (-INF, INF), (3e4, NAN)])
def test_gradients_at_no_place(mode, padding, place):
    """Also where a second derivative may be asked for."""
    for further in (False, True):
        def gradients(t, x, grid, further=further):
            x, grid = x.requires_grad_(), grid.requires_grad_()
            found = t.autograd.grad(t.grid_sampler_2d(x, grid, mode, padding, True).sum(), [x, grid], create_graph=further)
            return [g.detach() for g in found]
        assert_same(gradients, torch.arange(1.0, 31).reshape(1, 1, 5, 6), torch.tensor(place).expand(1, 1, 2, 2).clone())


@pytest.mark.parametrize("mode", [0, 1, 2])
def test_second_derivatives(mode):
    """Against differences: PyTorch has none."""
    x = weir.randn(1, 2, 4, 5, dtype=weir.float64, requires_grad=True)
    grid = (weir.rand(1, 2, 3, 2, dtype=weir.float64) * 1.6 - 0.8).requires_grad_()
    assert weir.autograd.gradgradcheck(lambda x, g: weir.grid_sampler_2d(x, g, mode, 0, True), (x, grid))


@pytest.mark.parametrize("mode", [0, 1, 2])
@pytest.mark.parametrize("padding", [0, 1, 2])
def test_few_points_of_what_is_not_dense(mode, padding):
    """They are read where they lie."""
    def everything(t, x, v, g):
        turned = [x.permute(1, 2, 3, 0).contiguous().permute(3, 0, 1, 2), x.transpose(2, 3), x[:, ::2], x[..., ::2], x[:1].expand(2, 3, 20, 30)]
        found = [t.grid_sampler(y, g, mode, padding, True) for y in turned]
        return found + [t.grid_sampler(v.transpose(1, 4), g.reshape(2, 2, 1, 2, 2)[..., [0, 1, 0]], mode, padding, False) for _ in range(mode < 2)]
    assert_same(everything, torch.randn(2, 3, 20, 30), torch.randn(2, 9, 8, 7, 3), torch.rand(2, 2, 2, 2) * 2.4 - 1.2, order=0)
