#include "framework/ops/rnn.h"

#include <algorithm>

#include "framework/kernels/cpu/loops.h"
#include "framework/kernels/cpu/matmul.h"
#include "framework/kernels/cpu/registers.h"

namespace weir {
namespace WEIR_ISA {
namespace {

template <class V> V sigmoid(V x) { return V(1) / (V(1) + exp(-x)); }

// The four gates of a row in PyTorch's order: input, forget, candidate, output.
template <class T> struct Gates {
  Vec<T> i, f, g, o;
  Gates(const T* x, const T* h, int64_t hidden, int64_t j, int n) {
    auto sum = [&](int gate) { return load(x + gate * hidden + j, n) + load(h + gate * hidden + j, n); };
    i = sigmoid(sum(0)), f = sigmoid(sum(1)), g = tanh(sum(2)), o = sigmoid(sum(3));
  }
};

// f(row) for the rows of a state, on several threads where there is much to do.
template <class F> void for_states(const Tensor& c, F&& f) {
  int64_t hidden = c.size(-1), rows = hidden ? c.numel() / hidden : 0;
  parallel_for(rows, kGrain / 16 / std::max<int64_t>(hidden, 1), [&](int64_t b, int64_t e) {
    for (int64_t r = b; r < e; r++) f(r);
  });
}
template <class F> void by_type(DType t, F&& f) {
  if (t == DType::float64) f(TypeTag<double>{});
  else f(TypeTag<float>{});
}

/// Rows of states: where the numbers of each kind begin; what is not there is null.
template <class T> struct StepForward {
  const T *x, *h, *c;
  T *to_h, *to_c;
};
template <class T> struct StepBackward {
  const T *dh, *dc, *x, *h, *c, *next;
  T *gates, *previous;
};

template <class T> void run_forward(const Tensor& like, const StepForward<T>& at) {
  const int64_t hidden = like.size(-1);
  for_states(like, [&](int64_t r) {
    const T *rx = at.x + r * 4 * hidden, *rh = at.h + r * 4 * hidden, *rc = at.c + r * hidden;
    for_registers<T>(hidden, [&](int64_t j, int n) {
      Gates<T> s(rx, rh, hidden, j, n);
      Vec<T> next = s.f * load(rc + j, n) + s.i * s.g;
      store(next, at.to_c + r * hidden + j, n);
      store(s.o * tanh(next), at.to_h + r * hidden + j, n);
    });
  });
}

template <class T> void run_backward(const Tensor& like, const StepBackward<T>& at) {
  const int64_t hidden = like.size(-1);
  for_states(like, [&](int64_t r) {
    const T *rx = at.x + r * 4 * hidden, *rh = at.h + r * 4 * hidden;
    T *gates = at.gates + r * 4 * hidden, *previous = at.previous + r * hidden;
    auto of = [&](const T* p, int64_t j, int n) { return p ? load(p + r * hidden + j, n) : Vec<T>(0); };
    for_registers<T>(hidden, [&](int64_t j, int n) {
      const Vec<T> one(1);
      Gates<T> s(rx, rh, hidden, j, n);
      Vec<T> by_h = of(at.dh, j, n), t = tanh(of(at.next, j, n)), by_c = of(at.dc, j, n) + by_h * s.o * (one - t * t);
      store(by_c * s.g * s.i * (one - s.i), gates + j, n);
      store(by_c * of(at.c, j, n) * s.f * (one - s.f), gates + hidden + j, n);
      store(by_c * s.i * (one - s.g * s.g), gates + 2 * hidden + j, n);
      store(by_h * t * s.o * (one - s.o), gates + 3 * hidden + j, n);
      store(by_c * s.f, previous + j, n);
    });
  });
}

void forward(const LstmGates&, Inputs in, Outputs out) {
  Tensor x = row_major(in[0]), h = row_major(in[1]), c = row_major(in[2]);
  by_type(c.dtype(), [&]<class T>(TypeTag<T>) {
    run_forward<T>(c, {x.data<T>(), h.data<T>(), c.data<T>(), out[0].data<T>(), out[1].data<T>()});
  });
}

Tensor dense_or_none(const Tensor& t) { return t ? row_major(t) : t; }
template <class T> T* begin_of(const Tensor& t) { return t ? t.data<T>() : nullptr; }

void backward(const LstmGatesBackward&, Inputs in, Outputs out) {
  Tensor dh = dense_or_none(in[0]), dc = dense_or_none(in[1]), x = row_major(in[2]), h = row_major(in[3]), c = row_major(in[4]), next = row_major(in[5]);
  by_type(c.dtype(), [&]<class T>(TypeTag<T>) {
    run_backward<T>(c, {begin_of<T>(dh), begin_of<T>(dc), x.data<T>(), h.data<T>(), c.data<T>(), next.data<T>(), out[0].data<T>(), out[1].data<T>()});
  });
}

/// t[i] of dense tensors.
Tensor row(const Tensor& t, int64_t i) {
  Dims sizes, strides;
  for (int d = 1; d < t.ndim(); d++) sizes.push(t.sizes()[d]), strides.push(t.strides()[d]);
  return alias(t, sizes, strides, t->offset + i * t.strides()[0]);
}
Tensor turned(const Tensor& w) { return alias(w, Dims{w.sizes()[1], w.sizes()[0]}, Dims{w.strides()[1], w.strides()[0]}, w->offset); }

// A sequence has one w_hh: the products of all steps share it, and what they leave is one product for its gradient.
void layer_forward(const LstmLayer& op, Inputs in, Outputs out) {
  Tensor x = row_major(in[0]), w = row_major(in[1]), bias = dense_or_none(in[2]), h = row_major(in[3]), c = row_major(in[4]);
  const int64_t steps = x.size(0);
  by_type(c.dtype(), [&]<class T>(TypeTag<T>) {
    for (int64_t i = 0; i < steps; i++) {
      const int64_t t = op.reverse ? steps - 1 - i : i;
      const Tensor gates = row(out[2], t), to_h = row(out[0], t), to_c = row(out[1], t);
      gemm(h, turned(w), bias, gates);
      run_forward<T>(c, {row(x, t).data<T>(), gates.data<T>(), c.data<T>(), to_h.data<T>(), to_c.data<T>()});
      h = to_h, c = to_c;
    }
  });
}

void layer_backward(const LstmLayerBackward& op, Inputs in, Outputs out) {
  Tensor dy = dense_or_none(in[0]), dcells = dense_or_none(in[1]), x = row_major(in[2]), gates_h = row_major(in[3]), cells = row_major(in[4]),
         w = row_major(in[5]), first = row_major(in[6]);
  const int64_t steps = x.size(0);
  const Tensor &dh = out[1], &dc = out[2];
  by_type(first.dtype(), [&]<class T>(TypeTag<T>) {
    auto add = [](const Tensor& to, const Tensor& more) {
      for (int64_t i = 0; i < to.numel(); i++) to.data<T>()[i] += more.data<T>()[i];
    };
    std::fill_n(dh.data<T>(), dh.numel(), T(0)), std::fill_n(dc.data<T>(), dc.numel(), T(0));
    for (int64_t i = steps; i-- > 0;) {
      const int64_t t = op.reverse ? steps - 1 - i : i, before = op.reverse ? t + 1 : t - 1;
      if (dy) add(dh, row(dy, t));
      if (dcells) add(dc, row(dcells, t));
      const Tensor c = i ? row(cells, before) : first, gates = row(out[0], t);
      run_backward<T>(c, {dh.data<T>(), dc.data<T>(), row(x, t).data<T>(), row(gates_h, t).data<T>(), c.data<T>(), row(cells, t).data<T>(), gates.data<T>(), dc.data<T>()});
      gemm(gates, w, Tensor(), dh);
    }
  });
}

const bool registered = [] {
  set_kernel<LstmGates, forward>(DeviceType::cpu);
  set_kernel<LstmGatesBackward, backward>(DeviceType::cpu);
  set_kernel<LstmLayer, layer_forward>(DeviceType::cpu);
  set_kernel<LstmLayerBackward, layer_backward>(DeviceType::cpu);
  return true;
}();

}  // namespace
}  // namespace WEIR_ISA
}  // namespace weir
