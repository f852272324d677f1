#include "framework/ops/activation.h"

#include <algorithm>

#include "framework/kernels/cpu/pointwise.h"

namespace weir {
namespace WEIR_ISA {
namespace {

// What is left of elu and its kin where no number is negative, and the exponential, which takes longer than all else, changes nothing.
template <class T> T of_positive(const Elu&, T x) { return x; }
template <class T> T of_positive(const Celu&, T x) { return x; }
template <class T> T of_positive(const Selu&, T x) { return T(1.0507009873554804934193349852946) * x; }
template <class T> T of_positive(const EluBackward& op, T g, T) { return g * T(op.scale); }

// A loop that leaves it out of blocks without a negative number, or, in the gradient, a zero.
template <class Op, class T> void loop_by_sign(const void* p, void* out_data, const void* const* in_data, uint32_t fixed, int64_t n) {
  constexpr int k = arity<Op>(), w = Vec<T>::size;
  constexpr int64_t kBlock = 8 * w;
  if (fixed) return loop<Op, T>(p, out_data, in_data, fixed, n);
  const Op op = *static_cast<const Op*>(p);
  T* out = static_cast<T*>(out_data);
  auto input = [&](int j, int64_t i) { return static_cast<const T*>(in_data[j]) + i; };
  auto is_mixed = [&](int64_t i) {
    if (i + kBlock > n) return true;
    for (int64_t l = i; l < i + kBlock; l += w)
      if (const Vec<T> x = Vec<T>::load(input(k - 1, l)); any(k == 1 ? x < Vec<T>(T(0)) : x <= Vec<T>(T(0)))) return true;
    return false;
  };
  for (int64_t i = 0; i < n;) {
    int64_t end = i;
    while (end < n && is_mixed(end)) end = std::min(end + kBlock, n);
    if (end > i) {
      const void* at[k];
      for (int j = 0; j < k; j++) at[j] = input(j, i);
      loop<Op, T>(p, out + i, at, 0, end - i);
    }
    for (i = end; i < n && !is_mixed(i);)
      for (end = i + kBlock; i < end; i += w) {
        if constexpr (k == 1) of_positive(op, Vec<T>::load(input(0, i))).store(out + i);
        else of_positive(op, Vec<T>::load(input(0, i)), Vec<T>::load(input(1, i))).store(out + i);
      }
  }
}

template <class Op> const Loops& loops_by_sign() {
  static const Loops loops = [] {
    Loops l = loops_of<Op>();
    l.f32 = loop_by_sign<Op, float>, l.f64 = loop_by_sign<Op, double>;
    return l;
  }();
  return loops;
}
template <class Op> void kernel_by_sign(const Op& op, Inputs in, Outputs out) {
  run_pointwise(Op::signature.name.data(), loops_by_sign<Op>(), computes<Op>(&op, in, out[0].dtype()), &op, in, out[0]);
}

}  // namespace

static const PointwiseKernels<ActivationOps> kernels;
static const bool by_sign = [] {
  OpList<Elu, Selu, Celu, EluBackward>::for_each([](auto tag) {
    using Op = typename decltype(tag)::type;
    set_kernel<Op, kernel_by_sign<Op>>(DeviceType::cpu);
    pointwise_ops()[kernel_slots<Op>] = {loops_by_sign<Op>(), computes<Op>};
  });
  return true;
}();

}  // namespace WEIR_ISA
}  // namespace weir
