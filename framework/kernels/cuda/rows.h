// What rows are reduced by, and what works along them, on the GPU. Stands behind kernels/cuda/prelude.h.
//
// A line is n numbers, of which `in(k)` gives one in the type A of the sums and `out(k)` is the place of one. A team of threads works on
// it: all of a block, a warp, or one thread. Numbers that belong to a whole line are at out(0). A function is named after its op.
#pragma once

namespace weir {

template <class A> struct SumOf {
  static A start() { return A(0); }
  static A join(A a, A b) { return a + b; }
};
template <class A> struct LargestOf {
  static A start() { return -Limits<A>::infinity(); }
  static A join(A a, A b) { return a > b || a != a ? a : b; }
};
template <class A> struct SmallestOf {
  static A start() { return Limits<A>::infinity(); }
  static A join(A a, A b) { return a < b || a != a ? a : b; }
};

struct ThreadTeam {
  int first() const { return 0; }
  int size() const { return 1; }
  template <template <class> class Of, class A> A joined(A x) const { return x; }
};
struct WarpTeam {
  int first() const { return threadIdx.x % 32; }
  int size() const { return 32; }
  template <template <class> class Of, class A> A joined(A x) const {
    for (int d = 16; d; d /= 2) x = Of<A>::join(x, __shfl_xor_sync(0xffffffff, x, d));
    return x;
  }
};
struct BlockTeam {
  int first() const { return threadIdx.x; }
  int size() const { return blockDim.x; }
  template <template <class> class Of, class A> A joined(A x) const {
    __shared__ A parts[32];
    x = WarpTeam().joined<Of>(x);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = x;
    __syncthreads();
    x = WarpTeam().joined<Of>(threadIdx.x % 32 < blockDim.x / 32 ? parts[threadIdx.x % 32] : Of<A>::start());
    __syncthreads();  // before the next joining writes there
    return x;
  }
};

/// Calls f(team, l) for each of `count` lines: thread `me` of the `threads` that a row has.
template <class Team, class F> void lines(int64_t count, int me, int threads, F f) {
  const Team team;
  for (int64_t l = me / team.size(); l < count; l += threads / team.size()) f(team, l);
}

template <template <class> class Of, class A, class Team, class F> A joined(Team team, int64_t n, F f) {
  A x = Of<A>::start();
  for (int64_t k = team.first(); k < n; k += team.size()) x = Of<A>::join(x, f(k));
  return team.template joined<Of>(x);
}
template <class T, class A> void put(T& to, A x) { to = T(x); }
template <class Team, class Out, class A> void put_one(Team team, Out out, A x) {
  if (team.first() == 0) put(out(0), x);
}
template <class Team, class Out, class F> void put_all(Team team, int64_t n, Out out, F f) {
  for (int64_t k = team.first(); k < n; k += team.size()) put(out(k), f(k));
}

template <class A, class Team, class Out, class In> void line_sum(Team team, int64_t n, Out out, In in) {
  put_one(team, out, joined<SumOf, A>(team, n, in));
}
template <class A, class Team, class Out, class In> void line_mean(Team team, int64_t n, Out out, In in) {
  put_one(team, out, joined<SumOf, A>(team, n, in) / A(n));
}
template <class A, class Team, class Out, class In> void line_amax(Team team, int64_t n, Out out, In in) {
  put_one(team, out, joined<LargestOf, A>(team, n, in));
}
template <class A, class Team, class Out, class In> void line_amin(Team team, int64_t n, Out out, In in) {
  put_one(team, out, joined<SmallestOf, A>(team, n, in));
}
template <class A, class Team, class Out, class In> void line_norm2(Team team, int64_t n, Out out, In in) {
  put_one(team, out, sqrt(joined<SumOf, A>(team, n, [&](int64_t k) { return in(k) * in(k); })));
}

/// The sum of squared deviations from `mean`: in a second pass, as sums of squares would cancel.
template <class A, class Team, class In> A deviations(Team team, int64_t n, A mean, In in) {
  return joined<SumOf, A>(team, n, [&](int64_t k) { return (in(k) - mean) * (in(k) - mean); });
}
template <class A, class Team, class Var, class Mean, class In>
void line_var_mean_forward(Team team, int64_t n, Var var, Mean mean, In in, double correction) {
  const A m = joined<SumOf, A>(team, n, in) / A(n), squares = deviations(team, n, m, in);
  put_one(team, mean, m), put_one(team, var, squares / A(correction < n ? n - correction : 0));
}
template <class A, class Team, class Std, class Mean, class In>
void line_std_mean_forward(Team team, int64_t n, Std std, Mean mean, In in, double correction) {
  const A m = joined<SumOf, A>(team, n, in) / A(n), squares = deviations(team, n, m, in);
  put_one(team, mean, m), put_one(team, std, sqrt(squares / A(correction < n ? n - correction : 0)));
}

template <class A, class Team, class Out, class In> void line_softmax(Team team, int64_t n, Out out, In in) {
  const A top = joined<LargestOf, A>(team, n, in);
  const A sum = joined<SumOf, A>(team, n, [&](int64_t k) { return exp(in(k) - top); });
  put_all(team, n, out, [&](int64_t k) { return exp(in(k) - top) / sum; });
}
template <class A, class Team, class Out, class In> void line__safe_softmax(Team team, int64_t n, Out out, In in) {
  const A top = joined<LargestOf, A>(team, n, in);
  const A sum = joined<SumOf, A>(team, n, [&](int64_t k) { return exp(in(k) - top); });
  put_all(team, n, out, [&](int64_t k) { return top == -Limits<A>::infinity() ? A(0) : exp(in(k) - top) / sum; });
}
template <class A, class Team, class Out, class In> void line_log_softmax(Team team, int64_t n, Out out, In in) {
  const A top = joined<LargestOf, A>(team, n, in);
  const A rest = log(joined<SumOf, A>(team, n, [&](int64_t k) { return exp(in(k) - top); }));
  put_all(team, n, out, [&](int64_t k) { return in(k) - top - rest; });
}
template <class A, class Team, class Out, class Grad, class In> void line_softmax_backward(Team team, int64_t n, Out out, Grad grad, In y) {
  const A sum = joined<SumOf, A>(team, n, [&](int64_t k) { return y(k) * grad(k); });
  put_all(team, n, out, [&](int64_t k) { return y(k) * (grad(k) - sum); });
}
template <class A, class Team, class Out, class Grad, class In> void line_log_softmax_backward(Team team, int64_t n, Out out, Grad grad, In y) {
  const A sum = joined<SumOf, A>(team, n, grad);
  put_all(team, n, out, [&](int64_t k) { return grad(k) - exp(y(k)) * sum; });
}

/// A weight or a bias that is not given.
template <class A> struct Ones { A operator()(int64_t) const { return A(1); } };
template <class A> struct Zeros { A operator()(int64_t) const { return A(0); } };

template <class A, class Team, class Out, class Mean, class Rstd, class In, class Weight, class Bias>
void line_layer_norm_forward(Team team, int64_t n, Out out, Mean mean, Rstd rstd, In in, Weight weight, Bias bias, double eps) {
  const A m = joined<SumOf, A>(team, n, in) / A(n), r = A(1) / sqrt(deviations(team, n, m, in) / A(n) + A(eps));
  put_one(team, mean, m), put_one(team, rstd, r);
  put_all(team, n, out, [&](int64_t k) { return (in(k) - m) * r * weight(k) + bias(k); });
}

}  // namespace weir
