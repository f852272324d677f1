#include "framework/ops/create.h"

#include "framework/kernels/cpu/loops.h"
#include "framework/kernels/cpu/spaced.h"
#include "framework/op/out.h"

namespace weir {
namespace WEIR_ISA {
namespace {

template <class Op> void copy_all(const Op&, Inputs in, Outputs out) { run_copy(in[0], out[0]); }

void linspace(const Linspace& op, Inputs, Outputs out) { fill_spaced(out[0], op.start, op.end); }

// `x`, but zero where any element that shares its memory lies outside the triangle: PyTorch writes zeros in place, one by one.
template <bool kLower> void shared_triangle(const Tensor& x, int64_t diagonal, const Tensor& out) {
  const Tensor memory = copied(x, Meta(x.sizes(), x.dtype()));
  int64_t rows = x.size(-2), cols = x.size(-1), item = size_of(x.dtype());
  Dims shared(x.ndim(), 0);
  int64_t places = 1;
  for (int i = x.ndim(); i-- > 0;)
    if (x.strides()[i] != 0) shared[i] = places, places *= x.sizes()[i];
  std::vector<bool> zero(size_t(places), false);
  auto each = [&](auto&& visit) {
    for (int64_t i = 0; i < x.numel(); i++) {
      int64_t place = 0, rest = i;
      for (int d = x.ndim(); d-- > 0; rest /= x.sizes()[d]) place += rest % x.sizes()[d] * shared[d];
      visit(i, place);
    }
  };
  each([&](int64_t i, int64_t place) {
    const int64_t column = i % cols, row = i / cols % rows;
    if (kLower ? column > row + diagonal : column < row + diagonal) zero[size_t(place)] = true;
  });
  each([&](int64_t i, int64_t place) {
    if (zero[size_t(place)]) std::memset(memory.raw() + i * item, 0, item);
  });
  run_copy(memory, out);
}

template <bool kLower, class Op> void triangle(const Op& op, Inputs in, Outputs out) {
  const Tensor& t = out[0];
  if (op.over_itself && repeats(in[0])) return shared_triangle<kLower>(in[0], std::clamp(op.diagonal, -t.size(-2), t.size(-1)), t);
  run_copy(in[0], t);
  int64_t cols = t.size(-1), rows = t.size(-2), item = size_of(t.dtype());
  if (t.numel() == 0) return;
  const int64_t diagonal = std::clamp(op.diagonal, -rows, cols);  // any int64 is one
  parallel_for(t.numel() / cols, kGrain / cols, [&](int64_t b, int64_t e) {
    for (int64_t r = b; r < e; r++) {
      int64_t edge = std::clamp<int64_t>(r % rows + diagonal + (kLower ? 1 : 0), 0, cols);
      std::byte* row = t.raw() + r * cols * item;
      if (kLower) std::memset(row + edge * item, 0, (cols - edge) * item);
      else std::memset(row, 0, edge * item);
    }
  });
}

}  // namespace

static const bool registered = [] {
  constexpr auto cpu = DeviceType::cpu;
  set_kernel<Clone, copy_all<Clone>>(cpu);
  set_kernel<ToDtype, copy_all<ToDtype>>(cpu);
  set_kernel<Linspace, linspace>(cpu);
  set_kernel<Tril, triangle<true, Tril>>(cpu);
  set_kernel<Triu, triangle<false, Triu>>(cpu);
  return true;
}();

}  // namespace WEIR_ISA
}  // namespace weir
