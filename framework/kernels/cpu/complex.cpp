#include "framework/ops/complex.h"

#include "framework/kernels/cpu/pointwise.h"

namespace weir {
namespace WEIR_ISA {
namespace {

// A part in the result's order of axes, copied where it lies otherwise; a number as it is.
Tensor laid(const Tensor& x, const Tensor& t) {
  if (x.numel() == 1 || (x.sizes() == t.sizes() && same_layout(t.sizes(), x.strides(), t.strides()))) return x;
  const Tensor r = empty(Meta(t.sizes(), t.strides(), x.dtype(), {}));
  run_copy(x, r);
  return r;
}
template <class T> bool join_dense(Inputs in, const Tensor& t) {
  if (!is_non_overlapping_and_dense(t.sizes(), t.strides())) return false;
  const Tensor parts[] = {laid(in[0], t), laid(in[1], t)};
  const T *re = parts[0].data<T>(), *im = parts[1].data<T>();
  std::complex<T>* to = t.data<std::complex<T>>();
  auto join = [&](auto re_step, auto im_step) {
    parallel_for(t.numel(), kGrain, [&](int64_t b, int64_t e) {
      for (int64_t i = b; i < e; i++) to[i] = {re[i * re_step], im[i * im_step]};
    });
  };
  constexpr std::integral_constant<int64_t, 0> number;
  constexpr std::integral_constant<int64_t, 1> each;
  if (parts[0].numel() == 1) parts[1].numel() == 1 ? join(number, number) : join(number, each);
  else parts[1].numel() == 1 ? join(each, number) : join(each, each);
  return true;
}

// Each part is a real tensor of twice the strides.
void join(const Complex&, Inputs in, Outputs out) {
  const Tensor& t = out[0];
  if (t.dtype() == DType::complex64 && join_dense<float>(in, t)) return;
  if (t.dtype() == DType::complex128 && join_dense<double>(in, t)) return;
  Dims strides = t.strides();
  for (int64_t& s : strides) s *= 2;
  for (int64_t part = 0; part < 2; part++)
    run_copy(in[part], alias(t->storage, real_type(t.dtype()), t.sizes(), strides, 2 * t->offset + part));
}

void polar(const Polar&, Inputs in, Outputs out) {
  auto fill = [&](auto tag) {
    using T = typename decltype(tag)::type;
    auto spread = [&](const Tensor& t) {
      if (t.sizes() == out[0].sizes()) return row_major(t);
      const Tensor r = empty(out[0].sizes(), t.dtype());
      run_copy(t, r);
      return r;
    };
    const bool one = in[1].numel() == 1;  // angle for all, of which the functions are found once
    const Tensor r = spread(in[0]), angle = one ? in[1] : spread(in[1]);
    const T *length = r.data<T>(), *turn = angle.data<T>();
    std::complex<T>* to = out[0].data<std::complex<T>>();
    const T cosine = one ? std::cos(*turn) : T(0), sine = one ? std::sin(*turn) : T(0);
    parallel_for(out[0].numel(), kGrain, [&](int64_t b, int64_t e) {
      if (one) for (int64_t i = b; i < e; i++) to[i] = {length[i] * cosine, length[i] * sine};
      else for (int64_t i = b; i < e; i++) to[i] = {length[i] * std::cos(turn[i]), length[i] * std::sin(turn[i])};
    });
  };
  if (in[0].dtype() == DType::float64) fill(TypeTag<double>{});
  else fill(TypeTag<float>{});
}

}  // namespace

static const PointwiseKernels<ComplexPointwise> kernels;
static const bool registered = (set_kernel<Complex, join>(DeviceType::cpu), set_kernel<Polar, polar>(DeviceType::cpu), true);

}  // namespace WEIR_ISA
}  // namespace weir
