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

// f(t) for the steps of a layer in their order.
template <class F> void for_steps(int64_t steps, bool reverse, F&& f) {
  for (int64_t i = 0; i < steps; i++) f(reverse ? steps - 1 - i : i);
}

// The state that step t began with: `first`, or that of the step before.
Tensor before_step(const Tensor& states, const Tensor& first, int64_t t, bool reverse) {
  return t == (reverse ? states.size(0) - 1 : 0) ? first : row(states, reverse ? t + 1 : t - 1);
}

// A sequence has one w_hh: the products of all steps share it, and what they leave is one product for its gradient.
void layer_forward(const LstmLayer& op, Inputs in, Outputs out) {
  Tensor x = row_major(in[0]), w = row_major(in[1]), bias = dense_or_none(in[2]), h = row_major(in[3]), c = row_major(in[4]);
  by_type(c.dtype(), [&]<class T>(TypeTag<T>) {
    for_steps(x.size(0), op.reverse, [&](int64_t t) {
      const Tensor gates = row(out[2], t), to_h = row(out[0], t), to_c = row(out[1], t);
      gemm(h, turned(w), bias, gates);
      run_forward<T>(c, {row(x, t).data<T>(), gates.data<T>(), c.data<T>(), to_h.data<T>(), to_c.data<T>()});
      h = to_h, c = to_c;
    });
  });
}

void layer_backward(const LstmLayerBackward& op, Inputs in, Outputs out) {
  Tensor dy = dense_or_none(in[0]), dcells = dense_or_none(in[1]), x = row_major(in[2]), gates_h = row_major(in[3]), cells = row_major(in[4]),
         w = row_major(in[5]), first = row_major(in[6]);
  const Tensor &dh = out[1], &dc = out[2];
  by_type(first.dtype(), [&]<class T>(TypeTag<T>) {
    auto add = [](const Tensor& to, const Tensor& more) {
      for (int64_t i = 0; i < to.numel(); i++) to.data<T>()[i] += more.data<T>()[i];
    };
    std::fill_n(dh.data<T>(), dh.numel(), T(0)), std::fill_n(dc.data<T>(), dc.numel(), T(0));
    for_steps(x.size(0), !op.reverse, [&](int64_t t) {
      if (dy) add(dh, row(dy, t));
      if (dcells) add(dc, row(dcells, t));
      const Tensor c = before_step(cells, first, t, op.reverse), gates = row(out[0], t);
      run_backward<T>(c, {dh.data<T>(), dc.data<T>(), row(x, t).data<T>(), row(gates_h, t).data<T>(), c.data<T>(), row(cells, t).data<T>(), gates.data<T>(), dc.data<T>()});
      gemm(gates, w, Tensor(), dh);
    });
  });
}

// The three gates of a row in PyTorch's order: reset, update, candidate.
template <class T> struct GruGates {
  Vec<T> reset, update, kept, candidate;  // kept: the state's part of the candidate, before the reset
  GruGates(const T* x, const T* h, int64_t hidden, int64_t j, int n) {
    auto sum = [&](int gate) { return load(x + gate * hidden + j, n) + load(h + gate * hidden + j, n); };
    reset = sigmoid(sum(0)), update = sigmoid(sum(1)), kept = load(h + 2 * hidden + j, n);
    candidate = tanh(load(x + 2 * hidden + j, n) + kept * reset);
  }
};

void gru_forward(const GruLayer& op, Inputs in, Outputs out) {
  Tensor x = row_major(in[0]), w = row_major(in[1]), bias = dense_or_none(in[2]), h = row_major(in[3]);
  const int64_t hidden = h.size(-1);
  by_type(h.dtype(), [&]<class T>(TypeTag<T>) {
    for_steps(x.size(0), op.reverse, [&](int64_t t) {
      const Tensor gates = row(out[1], t), y = row(out[0], t);
      gemm(h, turned(w), bias, gates);
      const T *px = row(x, t).data<T>(), *pg = gates.data<T>(), *ph = h.data<T>();
      T* py = y.data<T>();
      for_states(h, [&](int64_t r) {
        for_registers<T>(hidden, [&](int64_t j, int n) {
          const GruGates<T> g(px + r * 3 * hidden, pg + r * 3 * hidden, hidden, j, n);
          store((load(ph + r * hidden + j, n) - g.candidate) * g.update + g.candidate, py + r * hidden + j, n);
        });
      });
      h = y;
    });
  });
}

// out[2] carries the gradient of the state between the steps: what passes the update gate, then the product's part on top.
void gru_backward(const GruLayerBackward& op, Inputs in, Outputs out) {
  Tensor dy = row_major(in[0]), x = row_major(in[1]), gates = row_major(in[2]), y = row_major(in[3]), w = row_major(in[4]), first = row_major(in[5]);
  const int64_t hidden = first.size(-1);
  const Tensor carried = out[2], product = empty(first.sizes(), first.dtype());
  by_type(first.dtype(), [&]<class T>(TypeTag<T>) {
    std::fill_n(carried.data<T>(), carried.numel(), T(0)), std::fill_n(product.data<T>(), product.numel(), T(0));
    T *pc = carried.data<T>(), *pp = product.data<T>();
    for_steps(x.size(0), !op.reverse, [&](int64_t t) {
      const Tensor before = before_step(y, first, t, op.reverse), to_gates = row(out[1], t);
      const T *px = row(x, t).data<T>(), *pg = row(gates, t).data<T>(), *ph = before.data<T>(), *pd = row(dy, t).data<T>();
      T *to_x = row(out[0], t).data<T>(), *to_h = to_gates.data<T>();
      for_states(first, [&](int64_t r) {
        const int64_t at = r * hidden, wide = 3 * at;
        for_registers<T>(hidden, [&](int64_t j, int n) {
          const Vec<T> one(1);
          const GruGates<T> g(px + wide, pg + wide, hidden, j, n);
          const Vec<T> d = load(pd + at + j, n) + (load(pc + at + j, n) + load(pp + at + j, n));
          const Vec<T> by_candidate = d * (one - g.update) * (one - g.candidate * g.candidate);
          const Vec<T> by_reset = by_candidate * g.kept * g.reset * (one - g.reset);
          const Vec<T> by_update = d * (load(ph + at + j, n) - g.candidate) * g.update * (one - g.update);
          for (T* to : {to_x, to_h}) store(by_reset, to + wide + j, n), store(by_update, to + wide + hidden + j, n);
          store(by_candidate, to_x + wide + 2 * hidden + j, n), store(by_candidate * g.reset, to_h + wide + 2 * hidden + j, n);
          store(d * g.update, pc + at + j, n);
        });
      });
      gemm(to_gates, w, Tensor(), product);
    });
    for (int64_t i = 0; i < carried.numel(); i++) pc[i] += pp[i];
  });
}

void rnn_forward(const RnnLayer& op, Inputs in, Outputs out) {
  Tensor x = row_major(in[0]), w = row_major(in[1]), bias = dense_or_none(in[2]), h = row_major(in[3]);
  const int64_t hidden = h.size(-1);
  by_type(h.dtype(), [&]<class T>(TypeTag<T>) {
    for_steps(x.size(0), op.reverse, [&](int64_t t) {
      const Tensor y = row(out[0], t);
      gemm(h, turned(w), bias, y);
      const T* px = row(x, t).data<T>();
      T* py = y.data<T>();
      for_states(h, [&](int64_t r) {
        for_registers<T>(hidden, [&](int64_t j, int n) {
          const int64_t at = r * hidden + j;
          const Vec<T> sum = load(px + at, n) + load(py + at, n);
          store(op.relu ? where(sum < Vec<T>(0), Vec<T>(0), sum) : tanh(sum), py + at, n);
        });
      });
      h = y;
    });
  });
}

// out[1] holds the product's part of the gradient of the state, from step to step.
void rnn_backward(const RnnLayerBackward& op, Inputs in, Outputs out) {
  Tensor dy = row_major(in[0]), y = row_major(in[1]), w = row_major(in[2]);
  const Tensor& carried = out[1];
  const int64_t hidden = carried.size(-1);
  by_type(y.dtype(), [&]<class T>(TypeTag<T>) {
    T* pc = carried.data<T>();
    std::fill_n(pc, carried.numel(), T(0));
    for_steps(y.size(0), !op.reverse, [&](int64_t t) {
      const Tensor sums = row(out[0], t);
      const T *py = row(y, t).data<T>(), *pd = row(dy, t).data<T>();
      T* to = sums.data<T>();
      for_states(carried, [&](int64_t r) {
        for_registers<T>(hidden, [&](int64_t j, int n) {
          const int64_t at = r * hidden + j;
          const Vec<T> d = load(pd + at, n) + load(pc + at, n), s = load(py + at, n);
          store(op.relu ? where(s <= Vec<T>(0), Vec<T>(0), d) : d * (Vec<T>(1) - s * s), to + at, n);
        });
      });
      gemm(sums, w, Tensor(), carried);
    });
  });
}

const bool registered = [] {
  set_kernel<LstmGates, forward>(DeviceType::cpu);
  set_kernel<LstmGatesBackward, backward>(DeviceType::cpu);
  set_kernel<LstmLayer, layer_forward>(DeviceType::cpu);
  set_kernel<LstmLayerBackward, layer_backward>(DeviceType::cpu);
  set_kernel<GruLayer, gru_forward>(DeviceType::cpu);
  set_kernel<GruLayerBackward, gru_backward>(DeviceType::cpu);
  set_kernel<RnnLayer, rnn_forward>(DeviceType::cpu);
  set_kernel<RnnLayerBackward, rnn_backward>(DeviceType::cpu);
  return true;
}();

}  // namespace
}  // namespace WEIR_ISA
}  // namespace weir
