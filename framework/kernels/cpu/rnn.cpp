#include "framework/ops/rnn.h"

#include "framework/kernels/cpu/loops.h"
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
  parallel_for(rows, std::max<int64_t>(1, kGrain / 16 / std::max<int64_t>(hidden, 1)), [&](int64_t b, int64_t e) {
    for (int64_t r = b; r < e; r++) f(r);
  });
}
template <class F> void by_type(DType t, F&& f) {
  if (t == DType::float64) f(TypeTag<double>{});
  else f(TypeTag<float>{});
}

void forward(const LstmGates&, Inputs in, Outputs out) {
  Tensor x = row_major(in[0]), h = row_major(in[1]), c = row_major(in[2]);
  by_type(c.dtype(), [&]<class T>(TypeTag<T>) {
    const int64_t hidden = c.size(-1);
    for_states(c, [&](int64_t r) {
      const T *rx = x.data<T>() + r * 4 * hidden, *rh = h.data<T>() + r * 4 * hidden, *rc = c.data<T>() + r * hidden;
      T *to_h = out[0].data<T>() + r * hidden, *to_c = out[1].data<T>() + r * hidden;
      for_registers<T>(hidden, [&](int64_t j, int n) {
        Gates<T> s(rx, rh, hidden, j, n);
        Vec<T> next = s.f * load(rc + j, n) + s.i * s.g;
        store(next, to_c + j, n);
        store(s.o * tanh(next), to_h + j, n);
      });
    });
  });
}

void backward(const LstmGatesBackward&, Inputs in, Outputs out) {
  Tensor dh = in[0] ? row_major(in[0]) : in[0], dc = in[1] ? row_major(in[1]) : in[1];
  Tensor x = row_major(in[2]), h = row_major(in[3]), c = row_major(in[4]), next = row_major(in[5]);
  by_type(c.dtype(), [&]<class T>(TypeTag<T>) {
    const int64_t hidden = c.size(-1);
    for_states(c, [&](int64_t r) {
      const T *rx = x.data<T>() + r * 4 * hidden, *rh = h.data<T>() + r * 4 * hidden;
      T *gates = out[0].data<T>() + r * 4 * hidden, *previous = out[1].data<T>() + r * hidden;
      auto at = [&](const Tensor& t, int64_t j, int n) { return t ? load(t.data<T>() + r * hidden + j, n) : Vec<T>(0); };
      for_registers<T>(hidden, [&](int64_t j, int n) {
        const Vec<T> one(1);
        Gates<T> s(rx, rh, hidden, j, n);
        Vec<T> by_h = at(dh, j, n), t = tanh(at(next, j, n)), by_c = at(dc, j, n) + by_h * s.o * (one - t * t);
        store(by_c * s.g * s.i * (one - s.i), gates + j, n);
        store(by_c * at(c, j, n) * s.f * (one - s.f), gates + hidden + j, n);
        store(by_c * s.i * (one - s.g * s.g), gates + 2 * hidden + j, n);
        store(by_h * t * s.o * (one - s.o), gates + 3 * hidden + j, n);
        store(by_c * s.f, previous + j, n);
      });
    });
  });
}

const bool registered = [] {
  set_kernel<LstmGates, forward>(DeviceType::cpu);
  set_kernel<LstmGatesBackward, backward>(DeviceType::cpu);
  return true;
}();

}  // namespace
}  // namespace WEIR_ISA
}  // namespace weir
