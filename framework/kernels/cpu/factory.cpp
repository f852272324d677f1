#include "framework/ops/factory.h"

#include "framework/core/unset.h"
#include "framework/kernels/cpu/loops.h"

namespace weir {
namespace WEIR_ISA {
namespace {

template <class Op> void unset(const Op&, Inputs, Outputs out) {
  const Tensor& t = out[0];
  if (fill_unset_memory && t.numel()) write_unset(t.raw(), (extent(t.sizes(), t.strides()).high + 1) * int64_t(size_of(t.dtype())), t.dtype());
}

// Results are dense: their elements lie side by side in whatever order of axes.
void fill(const Tensor& t, const Scalar& value) {
  visit_dtype(t.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T x = std::is_same_v<T, bool> ? T(!value.is_zero()) : value.to<T>();
    parallel_for(t.numel(), kGrain, [&](int64_t b, int64_t e) { convert(t.dtype(), &x, 0, t.dtype(), t.data<T>() + b, 1, e - b); });
  });
}

template <class Op> void zeros(const Op&, Inputs, Outputs out) {
  std::byte* p = out[0].raw();
  parallel_for(out[0].numel() * int64_t(size_of(out[0].dtype())), kGrain, [&](int64_t b, int64_t e) { std::memset(p + b, 0, size_t(e - b)); });
}
template <class Op> void ones(const Op&, Inputs, Outputs out) { fill(out[0], Scalar(int64_t(1))); }
template <class Op> void value(const Op& op, Inputs, Outputs out) { fill(out[0], op.fill_value); }
void number(const ScalarTensor& op, Inputs, Outputs out) { fill(out[0], op.s); }

void arange(const Arange& op, Inputs, Outputs out) {
  visit_real_dtype("arange", out[0].dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* p = out[0].data<T>();
    const double start = op.start.to_double(), step = op.step.to_double();
    const int64_t first = op.start.to_int(), by = op.step.to_int();
    parallel_for(out[0].numel(), kGrain, [&](int64_t b, int64_t e) {
      for (int64_t i = b; i < e; i++) {
        if constexpr (std::is_integral_v<T>) p[i] = T(first + i * by);
        else p[i] = T(float_cast<T>(start + double(i) * step));
      }
    });
  });
}

void range(const Range& op, Inputs, Outputs out) {
  visit_real_dtype("range", out[0].dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* p = out[0].data<T>();
    auto count = [&](auto start, auto step) {
      using Wide = decltype(start);
      parallel_for(out[0].numel(), kGrain, [&](int64_t b, int64_t e) {
        for (int64_t i = b; i < e; i++) {
          if constexpr (std::is_same_v<Wide, double>) p[i] = T(float_cast<T>(start + Wide(i) * step));
          else p[i] = T(start + i * step);
        }
      });
    };
    if (is_integral(out[0].dtype())) count(op.start.to_int(), op.step.to_int());
    else count(op.start.to_double(), op.step.to_double());
  });
}

void eye(const Eye& op, Inputs in, Outputs out) {
  zeros(op, in, out);
  const Tensor& t = out[0];
  visit_dtype(t.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (int64_t i = 0, n = std::min(t.size(0), t.size(1)); i < n; i++) t.data<T>()[i * (t.size(1) + 1)] = T(1);
  });
}

}  // namespace

static const bool registered = [] {
  constexpr auto cpu = DeviceType::cpu;
  set_kernel<Empty, unset<Empty>>(cpu);
  set_kernel<EmptyStrided, unset<EmptyStrided>>(cpu);
  set_kernel<EmptyPermuted, unset<EmptyPermuted>>(cpu);
  set_kernel<EmptyLike, unset<EmptyLike>>(cpu);
  set_kernel<Zeros, zeros<Zeros>>(cpu);
  set_kernel<ZerosLike, zeros<ZerosLike>>(cpu);
  set_kernel<NewEmpty, unset<NewEmpty>>(cpu);
  set_kernel<NewEmptyStrided, unset<NewEmptyStrided>>(cpu);
  set_kernel<NewZeros, zeros<NewZeros>>(cpu);
  set_kernel<NewOnes, ones<NewOnes>>(cpu);
  set_kernel<NewFull, value<NewFull>>(cpu);
  set_kernel<Ones, ones<Ones>>(cpu);
  set_kernel<OnesLike, ones<OnesLike>>(cpu);
  set_kernel<Full, value<Full>>(cpu);
  set_kernel<FullLike, value<FullLike>>(cpu);
  set_kernel<ScalarTensor, number>(cpu);
  set_kernel<Eye, eye>(cpu);
  set_kernel<Arange, arange>(cpu);
  set_kernel<Range, range>(cpu);
  return true;
}();

}  // namespace WEIR_ISA
}  // namespace weir
