"""L-BFGS with a closure, and the strong Wolfe line search. Source: torch.optim.LBFGS; Nocedal and Wright 2006, ch. 3 and 7."""
import weir

from .optimizer import Optimizer, as_parts


def _cubic_minimum(x1, f1, g1, x2, f2, g2, bounds=None):
    """Where the cubic through two points with these slopes is least, within bounds; their middle where it has no minimum."""
    low, high = bounds if bounds is not None else (x1, x2) if x1 <= x2 else (x2, x1)
    d1 = g1 + g2 - 3 * (f1 - f2) / (x1 - x2)
    square = d1**2 - g1 * g2
    if not square >= 0:  # or NaN
        return (low + high) / 2.0
    d2 = square**0.5
    if x1 <= x2:
        at = x2 - (x2 - x1) * ((g2 + d2 - d1) / (g2 - g1 + 2 * d2))
    else:
        at = x1 - (x1 - x2) * ((g1 + d2 - d1) / (g1 - g2 + 2 * d2))
    return min(max(at, low), high)


def _strong_wolfe(evaluate, x, t, d, f, g, gtd, c1=1e-4, c2=0.9, tolerance_change=1e-9, *, max_ls):
    """(f, g, t, evaluations) of a step t along d that lowers f enough and flattens the slope enough."""
    d_norm, g = d.abs().max(), g.clone()
    f_new, g_new = evaluate(x, t, d)
    count, gtd_new = 1, g_new.dot(d)
    t_prev, f_prev, g_prev, gtd_prev = 0, f, g, gtd
    done, step, bracket = False, 0, None
    while step < max_ls:
        if f_new > (f + c1 * t * gtd) or (step > 1 and f_new >= f_prev):
            bracket, values, slopes, gtds = [t_prev, t], [f_prev, f_new], [g_prev, g_new.clone()], [gtd_prev, gtd_new]
            break
        if abs(gtd_new) <= -c2 * gtd:
            bracket, values, slopes, gtds, done = [t], [f_new], [g_new], [gtd_new], True
            break
        if gtd_new >= 0:
            bracket, values, slopes, gtds = [t_prev, t], [f_prev, f_new], [g_prev, g_new.clone()], [gtd_prev, gtd_new]
            break
        low, high, before = t + 0.01 * (t - t_prev), t * 10, t
        t = _cubic_minimum(t_prev, f_prev, gtd_prev, t, f_new, gtd_new, (low, high))
        t_prev, f_prev, g_prev, gtd_prev = before, f_new, g_new.clone(), gtd_new
        f_new, g_new = evaluate(x, t, d)
        count, gtd_new, step = count + 1, g_new.dot(d), step + 1
    if step == max_ls:
        bracket, values, slopes, gtds = [0, t], [f, f_new], [g, g_new], [gtd, gtd_new]
    little = False
    low, high = (0, 1) if values[0] <= values[-1] else (1, 0)
    while not done and step < max_ls:
        if abs(bracket[1] - bracket[0]) * d_norm < tolerance_change:
            break
        t = _cubic_minimum(bracket[0], values[0], gtds[0], bracket[1], values[1], gtds[1])
        margin = 0.1 * (max(bracket) - min(bracket))
        if min(max(bracket) - t, t - min(bracket)) < margin:  # too near an end: once is forgiven
            if little or t >= max(bracket) or t <= min(bracket):
                t = max(bracket) - margin if abs(t - max(bracket)) < abs(t - min(bracket)) else min(bracket) + margin
                little = False
            else:
                little = True
        else:
            little = False
        f_new, g_new = evaluate(x, t, d)
        count, gtd_new, step = count + 1, g_new.dot(d), step + 1
        if f_new > (f + c1 * t * gtd) or f_new >= values[low]:
            bracket[high], values[high], slopes[high], gtds[high] = t, f_new, g_new.clone(), gtd_new
            low, high = (0, 1) if values[0] <= values[1] else (1, 0)
        else:
            if abs(gtd_new) <= -c2 * gtd:
                done = True
            elif gtd_new * (bracket[high] - bracket[low]) >= 0:
                bracket[high], values[high], slopes[high], gtds[high] = bracket[low], values[low], slopes[low], gtds[low]
            bracket[low], values[low], slopes[low], gtds[low] = t, f_new, g_new.clone(), gtd_new
    return values[low], slopes[low], bracket[low], count


class LBFGS(Optimizer):
    """Quasi-Newton steps; `step(closure)` calls the closure, which computes loss and gradients, several times.

    line_search_fn: None for fixed steps of lr, or "strong_wolfe". One group of parameters only: ValueError for more.
    """

    def __init__(self, params, lr=1, max_iter=20, max_eval=None, tolerance_grad=1e-7, tolerance_change=1e-9, history_size=100,
                 line_search_fn=None):
        if isinstance(lr, weir.Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        if not 0.0 <= lr:
            raise ValueError(f"Invalid learning rate: {lr}")
        super().__init__(params, dict(
            lr=lr, max_iter=max_iter, max_eval=max_iter * 5 // 4 if max_eval is None else max_eval, tolerance_grad=tolerance_grad,
            tolerance_change=tolerance_change, history_size=history_size, line_search_fn=line_search_fn))
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")
        self._params = self.param_groups[0]["params"]

    def _gradient(self):
        return weir.cat([as_parts(weir.zeros_like(p) if p.grad is None else p.grad.to_dense()).reshape(-1) for p in self._params])

    def _move(self, step, direction):
        offset = 0
        for p in map(as_parts, self._params):
            p.add_(direction[offset:offset + p.numel()].view_as(p), alpha=step)
            offset += p.numel()

    def _evaluate(self, closure, x, t, d):
        self._move(t, d)
        loss = float(closure())
        gradient = self._gradient()
        for p, before in zip(self._params, x):
            p.copy_(before)
        return loss, gradient

    @staticmethod
    def _direction(flat_grad, dirs, steps, ro, h_diag, al):
        """-H g by the two loops over the history."""
        q = flat_grad.neg()
        for i in range(len(dirs) - 1, -1, -1):
            al[i] = steps[i].dot(q) * ro[i]
            q.add_(dirs[i], alpha=-float(al[i]))
        d = q * h_diag
        for i in range(len(dirs)):
            d.add_(steps[i], alpha=float(al[i] - dirs[i].dot(d) * ro[i]))
        return d

    @weir.no_grad()
    def step(self, closure):
        """Up to max_iter steps. Returns the loss before them. Shape of the loss: one element."""
        closure = weir.enable_grad()(closure)
        group = self.param_groups[0]
        lr, tolerance_grad, tolerance_change = group["lr"], group["tolerance_grad"], group["tolerance_change"]
        if isinstance(lr, weir.Tensor) and lr.dim():
            lr = lr.squeeze()  # a number in dtype promotion
        line_search = group["line_search_fn"]
        state = self.state[self._params[0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        first = closure()
        loss, evals = float(first), 1
        state["func_evals"] += 1
        flat_grad = self._gradient()
        if flat_grad.abs().max() <= tolerance_grad:
            return first
        kept = ("d", "t", "old_dirs", "old_stps", "ro", "H_diag", "prev_flat_grad", "prev_loss")
        d, t, dirs, steps, ro, h_diag, previous, prev_loss = (state.get(name) for name in kept)
        n = 0
        while n < group["max_iter"]:
            n += 1
            state["n_iter"] += 1
            if state["n_iter"] == 1:
                d = flat_grad.neg()
                dirs, steps, ro, h_diag = [], [], [], 1
            else:
                y, s = flat_grad.sub(previous), d.mul(t)
                ys = y.dot(s)
                if ys > 1e-10:
                    if len(dirs) == group["history_size"]:
                        for history in (dirs, steps, ro):
                            history.pop(0)
                    dirs.append(y)
                    steps.append(s)
                    ro.append(1.0 / ys)
                    h_diag = ys / y.dot(y)
                d = self._direction(flat_grad, dirs, steps, ro, h_diag, state.setdefault("al", [None] * group["history_size"]))
            previous, prev_loss = flat_grad.clone(), loss
            t = min(1.0, 1.0 / flat_grad.abs().sum()) * lr if state["n_iter"] == 1 else lr
            gtd = flat_grad.dot(d)
            if gtd > -tolerance_change:
                break
            count = 0
            if line_search is not None:
                if line_search != "strong_wolfe":
                    raise RuntimeError("only 'strong_wolfe' is supported")
                x = [p.clone() for p in self._params]
                loss, flat_grad, t, count = _strong_wolfe(
                    lambda x, t, d: self._evaluate(closure, x, t, d), x, t, d, loss, flat_grad, gtd,
                    max_ls=group["max_eval"] - evals)
                self._move(t, d)
            else:
                self._move(t, d)
                if n != group["max_iter"]:
                    loss, flat_grad, count = float(closure()), self._gradient(), 1
            evals += count
            state["func_evals"] += count
            if n == group["max_iter"] or evals >= group["max_eval"] or flat_grad.abs().max() <= tolerance_grad:
                break
            if d.mul(t).abs().max() <= tolerance_change or abs(loss - prev_loss) < tolerance_change:
                break
        state.update(zip(kept, (d, t, dirs, steps, ro, h_diag, previous, prev_loss)))
        return first
