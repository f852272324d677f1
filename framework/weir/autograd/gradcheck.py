"""Compares gradients with differences of values. Source: torch.autograd.gradcheck; of complex numbers, https://arxiv.org/abs/1906.00413 section 3.

An output of complex numbers counts as two of real ones, so every row of a Jacobian is the gradient of a real number: d/dx for a real
element x of an input, d/dx + i d/dy for a complex one, which is what `backward` gives.
"""
import itertools
import warnings

import weir
from weir._C import Tensor

from . import forward_ad
from .function import Function


class GradcheckError(RuntimeError):
    """The gradients differ."""


class _Withheld(Function):
    """The same numbers, whose gradient is not given on."""

    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, gradient):
        return None


def _tuple(x):
    return (x,) if isinstance(x, Tensor) else tuple(x)


def _fails(condition, text):
    if condition:
        raise GradcheckError(text)


def _is_differentiable(x):
    return isinstance(x, Tensor) and (x.is_floating_point() or x.is_complex())


def _real(outputs):
    """Complex outputs as two of real numbers, which may share no memory with inputs that are about to change."""
    return [part for o in outputs for part in ((weir.real(o), weir.imag(o)) if o.is_complex() else (o,))]


class _Call:
    """func at inputs: those of its inputs and outputs that have gradients."""

    def __init__(self, func, inputs):
        self.func, self.inputs = func, inputs
        self.places = [i for i, x in enumerate(inputs) if isinstance(x, Tensor) and x.requires_grad]
        self.chosen = [inputs[i] for i in self.places]
        outputs = _tuple(func(*inputs))
        self.kept = [i for i, o in enumerate(outputs) if _is_differentiable(o) and o.requires_grad]
        self.unrelated = [i for i, o in enumerate(outputs) if _is_differentiable(o) and not o.requires_grad]

    def outputs(self, inputs=None):
        """The outputs that require grad."""
        outputs = _tuple(self.func(*(self.inputs if inputs is None else inputs)))
        return [outputs[i] for i in self.kept]

    def values(self, which):
        """Real numbers of the outputs `which`, copied."""
        with weir.enable_grad():  # a function may ask for gradients on the way
            outputs = _tuple(self.func(*self.inputs))
        return [o.detach().clone() for o in _real([outputs[i] for i in which])]

    def slope(self, which, moves, eps):
        """For each output, its change over 2 eps where each input x, by its number among `chosen`, moves from x - eps d to x + eps d."""
        before = {k: self.chosen[k].detach().clone() for k in moves}
        ends = []
        for step in (eps, -eps):
            for k, d in moves.items():
                self.chosen[k].data.copy_(before[k] + step * d)
            ends.append(self.values(which))
        for k, x in before.items():
            self.chosen[k].data.copy_(x)
        if any(a.shape != b.shape or a.dtype != b.dtype for a, b in zip(*ends)):
            raise AssertionError("Expected `fn` to return outputs with the same shape and dtype when inputs are perturbed")
        return [(a - b) / (2 * eps) for a, b in zip(*ends)]


def _directions(x):
    """For each element of x: tensors like x that are 1 there and 0 elsewhere; for complex x also i there."""
    for index in itertools.product(*map(range, x.shape)):
        steps = []
        for unit in (1, 1j) if x.is_complex() else (1,):
            d = weir.zeros(x.shape, dtype=x.dtype)
            d[index] = unit
            steps.append(d)
        yield steps


def _numerical(call, which, k, eps):
    """For each real output, its derivative by input `k`: shape (elements of the input, elements of the output)."""
    rows = []
    for steps in _directions(call.chosen[k]):
        parts = [[s.reshape(-1) for s in call.slope(which, {k: d}, eps)] for d in steps]
        rows.append([a[0] if len(a) == 1 else weir.complex(*a) for a in zip(*parts)])
    return [weir.stack(column) for column in zip(*rows)]


def _gradients(output, inputs, cotangent):
    return weir.autograd.grad(output, inputs, cotangent, retain_graph=True, allow_unused=True)


def _analytical(output, inputs):
    """For each input, the derivative of a real output by backward: shape (elements of the input, elements of the output)."""
    columns = [[] for _ in inputs]
    for (d,) in _directions(output):
        for column, g, x in zip(columns, _gradients(output, inputs, d), inputs):
            column.append((weir.zeros_like(x) if g is None else g.to_dense() if g.is_sparse else g).reshape(-1))
    return [weir.stack(c, 1) if c else weir.zeros(x.numel(), 0, dtype=x.dtype) for c, x in zip(columns, inputs)]


def _compare(a, n, rtol, atol, output, k, kind="analytical"):
    a = a.to(n.dtype) if n.is_complex() or not a.is_complex() else a
    if not weir.allclose(a, n.to(a.dtype), rtol, atol):  # only then, since printing both takes longer than all else
        raise GradcheckError(f"Jacobian mismatch for output {output} with respect to input {k},\nnumerical:{n}\n{kind}:{a}\n")


def _check_inputs(inputs):
    chosen = [(i, x) for i, x in enumerate(inputs) if isinstance(x, Tensor) and x.requires_grad]
    if not chosen:
        raise ValueError("gradcheck expects at least one input tensor to require gradient, but none of them have requires_grad=True.")
    for i, x in chosen:
        if x.dtype not in (weir.float64, weir.complex128):
            warnings.warn(f"Input #{i} requires gradient and is not a double precision floating point or complex. This check will likely fail "
                          "if all the inputs are not of double precision floating point or complex. ", stacklevel=3)
        if any(step == 0 and size > 1 for step, size in zip(x.stride(), x.shape)):
            raise RuntimeError(f"The {i}th input has a dimension with stride 0. gradcheck only supports inputs that are non-overlapping to be "
                               "able to compute the numerical gradients correctly. You should call .contiguous on the input before passing it "
                               "to gradcheck.")


def _check_no_outputs(call, eps):
    """Where nothing requires grad, nothing may change either."""
    for k in range(len(call.chosen)):
        for n in _numerical(call, call.unrelated, k, eps):
            _fails(bool((n != 0).any()), "Numerical gradient for function expected to be zero")


def _check_slow(call, outputs, eps, rtol, atol, nondet_tol, check_grad_dtypes):
    numerical = [_numerical(call, call.kept, k, eps) for k in range(len(call.chosen))]
    for o, output in enumerate(_real(outputs)):
        first, second = _analytical(output, call.chosen), _analytical(output, call.chosen)
        for k, (a, b, x) in enumerate(zip(first, second, call.chosen)):
            _fails(check_grad_dtypes and a.dtype != x.dtype, f"Gradient has dtype mismatch: input {k} is {x.dtype}, its gradient {a.dtype}")
            if x.numel():
                _compare(a, numerical[k][o], rtol, atol, o, k)
            _fails(bool(((a - b).abs() > nondet_tol).any()),
                   f"Backward is not reentrant, i.e., running backward with same input and grad_output multiple times gives different values, "
                   f"although analytical gradient matches numerical gradient. The tolerance for nondeterminism was {nondet_tol}.")


def _projected(x, weights):
    """The sum of the real parts of conj(weights) * x."""
    product = weights.conj() * x if weights.is_complex() or x.is_complex() else weights * x
    return (product.real if product.is_complex() else product).sum()


def _check_fast(call, outputs, eps, rtol, atol, nondet_tol, check_grad_dtypes):
    """One direction of all numbers of an input, and one of an output, instead of each of them."""
    with weir.random.fork_rng(), weir.no_grad():
        weir.manual_seed(0)
        directions = [d / d.norm().clamp_min(1e-30) for d in (weir.randn(x.shape, dtype=x.dtype) for x in call.chosen)]
        weights = [weir.rand(o.shape, dtype=o.dtype) + 0.5 for o in _real(outputs)]
    slopes = [call.slope(call.kept, {k: d}, eps) for k, d in enumerate(directions)]
    for o, (output, w) in enumerate(zip(_real(outputs), weights)):
        first, second = _gradients(output, call.chosen, w), _gradients(output, call.chosen, w)
        for k, (g, h, x, d) in enumerate(zip(first, second, call.chosen, directions)):
            if not x.numel():
                continue
            _fails(check_grad_dtypes and g is not None and g.dtype != x.dtype, f"Gradient has dtype mismatch: input {k} is {x.dtype}, its gradient {g.dtype if g is not None else None}")
            zero = weir.zeros((), dtype=weir.float64)
            a = zero if g is None else _projected(d, g.to_dense() if g.is_sparse else g)
            n = (slopes[k][o] * w).sum()
            _compare(a, n, rtol, atol * max(1.0, float(w.sum() * d.abs().sum())), o, k)  # as many numbers as are summed may be off
            _fails(g is not None and bool(((g - h).abs() > nondet_tol).any()),
                   f"Backward is not reentrant, i.e., running backward with same input and grad_output multiple times gives different values. "
                   f"The tolerance for nondeterminism was {nondet_tol}.")


def _check_forward(call, eps, rtol, atol, fast_mode):
    """Products of the Jacobian with directions, of forward mode, against differences."""
    def of_chosen(*chosen):
        inputs = list(call.inputs)
        for i, x in zip(call.places, chosen):
            inputs[i] = x
        return tuple(call.outputs(inputs))

    primals = tuple(x.detach().requires_grad_() for x in call.chosen)
    for k, x in enumerate(primals):
        if fast_mode:
            with weir.random.fork_rng():
                weir.manual_seed(0)
                d = weir.randn(x.shape, dtype=x.dtype)
                directions = [d / d.norm().clamp_min(1e-30)] if x.numel() else []  # short, so that no number passes a jump of func's
        else:
            directions = [d for steps in _directions(x) for d in steps]
        for d in directions:
            tangents = tuple(d if j == k else weir.zeros_like(p) for j, p in enumerate(primals))
            with forward_ad.dual_level():
                pushed = [forward_ad.unpack_dual(o) for o in _tuple(of_chosen(*map(forward_ad.make_dual, primals, tangents)))]
            found = tuple(weir.zeros_like(p) if t is None else t for p, t in pushed)
            for o, (a, n) in enumerate(zip(_real(_tuple(found)), call.slope(call.kept, {k: d}, eps))):
                _compare(a.detach(), n, rtol, atol, o, k, "forward")


def _check_batched(call, outputs):
    """Gradients for a batch of cotangents, by `func.vmap`, against those of each."""
    for o, output in enumerate(outputs):
        batch = weir.randn((2, *output.shape), dtype=output.dtype)
        single = [weir.autograd.grad(output, call.chosen, v, retain_graph=True, allow_unused=True, materialize_grads=True) for v in batch]
        together = weir.func.vmap(lambda v, output=output: weir.autograd.grad(
            output, call.chosen, v, retain_graph=True, allow_unused=True, materialize_grads=True))(batch)
        for k, (all_, *each) in enumerate(zip(together, *single)):
            _fails(not weir.allclose(all_, weir.stack(each)), f"For output {o} and input {k}: batched gradients are not those of each cotangent")


def _check_scaled_by_cotangent(call, outputs):
    """Gradients for a cotangent of zeros: zeros, and of the shapes and kinds of the inputs."""
    for g, x in zip(weir.autograd.grad(outputs, call.chosen, [weir.zeros_like(o) for o in outputs], retain_graph=True, allow_unused=True), call.chosen):
        if g is None:
            continue
        dense = g.to_dense() if g.is_sparse else g
        _fails(not bool((dense == 0).all()), "backward not multiplied by grad_output")
        _fails(g.dtype != x.dtype, f"grad is incorrect type: expected {x.dtype}, got {g.dtype}")
        _fails(g.shape != x.shape, f"grad is incorrect size: expected {tuple(x.shape)}, got {tuple(g.shape)}")


def _check_undefined(call):
    """Where an output's gradient is not given, all gradients are None or zeros."""
    def check(withheld):
        outputs = call.outputs()
        given = [_Withheld.apply(o) if i in withheld else o for i, o in enumerate(outputs)]
        cotangents = [weir.ones_like(o) if i in withheld else weir.zeros_like(o) for i, o in enumerate(outputs)]
        try:
            found = weir.autograd.grad(given, call.chosen, cotangents, allow_unused=True)
        except RuntimeError as error:
            raise GradcheckError("Expected backward function to handle undefined output grads. Please look at 'Notes about undefined output "
                                 "gradients' in tools/autograd/derivatives.yaml") from error
        _fails(any(g is not None and bool((g != 0).any()) for g in found),
               "Expected all input grads to be undefined or zero when all output grads are undefined or zero.")

    many = range(len(call.kept))
    for withheld in [set(many)] + ([{i} for i in many] if len(many) > 1 else []):
        check(withheld)


def _gradcheck(func, inputs, eps, atol, rtol, nondet_tol, check_undefined_grad, check_grad_dtypes, check_batched_grad, check_forward_ad,
               check_backward_ad, fast_mode):
    _check_inputs(inputs)
    for x in inputs:
        if isinstance(x, Tensor) and x.requires_grad and not x.is_leaf:
            x.retain_grad()
    call = _Call(func, inputs)
    if not call.kept:
        return _check_no_outputs(call, eps)
    if check_forward_ad:
        _check_forward(call, eps, rtol, atol, fast_mode)
    if not check_backward_ad:
        return None
    outputs = call.outputs()
    (_check_fast if fast_mode else _check_slow)(call, outputs, eps, rtol, atol, nondet_tol, check_grad_dtypes)
    if check_batched_grad:
        _check_batched(call, outputs)
    _check_scaled_by_cotangent(call, outputs)
    if check_undefined_grad:
        _check_undefined(call)


def gradcheck(func, inputs, *, eps=1e-6, atol=1e-5, rtol=1e-3, raise_exception=True, nondet_tol=0.0,
              check_undefined_grad=True, check_grad_dtypes=False, check_batched_grad=False, check_batched_forward_grad=False,
              check_forward_ad=False, check_backward_ad=True, fast_mode=False, masked=None):
    """Do the gradients of func at inputs, of float64 or complex128, agree with differences of its values?

    Also: gradients asked for twice are the same up to nondet_tol; for a cotangent of zeros they are zeros; and func's backward takes
    outputs whose gradient is not given. `check_forward_ad` compares `func.jvp` too, `check_batched_grad` gradients under `func.vmap`.
    `fast_mode` looks along one random direction per input. True, or GradcheckError with both Jacobians (False with raise_exception=False).
    ValueError where no input requires grad.
    """
    if not (check_forward_ad or check_backward_ad):
        raise AssertionError("Expected at least one of check_forward_ad or check_backward_ad to be True")
    if check_batched_grad and not check_backward_ad:
        raise AssertionError("Setting check_batched_grad=True requires check_backward_ad to be True")
    if check_batched_forward_grad and not check_forward_ad:
        raise AssertionError("Setting check_batched_forward_grad=True requires check_forward_ad to be True")
    try:
        _gradcheck(func, _tuple(inputs), eps, atol, rtol, nondet_tol, check_undefined_grad, check_grad_dtypes, check_batched_grad,
                   check_forward_ad, check_backward_ad, fast_mode)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(func, inputs, grad_outputs=None, *, eps=1e-6, atol=1e-5, rtol=1e-3, gen_non_contig_grad_outputs=False,
                  raise_exception=True, nondet_tol=0.0, check_undefined_grad=True, check_grad_dtypes=False,
                  check_batched_grad=False, check_fwd_over_rev=False, check_rev_over_rev=True, fast_mode=False, masked=False):
    """Do the gradients of the gradients agree with differences? As gradcheck, for random cotangents where none are given."""
    if not (check_fwd_over_rev or check_rev_over_rev):
        raise AssertionError("Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True")
    inputs = _tuple(inputs)
    call = _Call(func, inputs)

    def cotangent(output):
        v = weir.testing.make_tensor(output.shape, dtype=output.dtype if output.is_complex() else weir.float64, device="cpu", low=-1, high=1,
                                     noncontiguous=gen_non_contig_grad_outputs)
        return v.to(output.dtype).requires_grad_()
    given = tuple(map(cotangent, call.outputs())) if grad_outputs is None else _tuple(grad_outputs)

    def gradient(*args):
        xs = args[:len(inputs)]
        outputs = call.outputs(xs)
        return weir.autograd.grad(outputs, [xs[i] for i in call.places], args[len(inputs):], create_graph=True, allow_unused=True,
                                  materialize_grads=True)
    return gradcheck(gradient, (*inputs, *given), eps=eps, atol=atol, rtol=rtol, raise_exception=raise_exception, nondet_tol=nondet_tol,
                     check_undefined_grad=check_undefined_grad, check_grad_dtypes=check_grad_dtypes, check_batched_grad=check_batched_grad,
                     check_forward_ad=check_fwd_over_rev, check_backward_ad=check_rev_over_rev, fast_mode=fast_mode)
