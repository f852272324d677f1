#include "framework/ops/rearrange.h"

#include <algorithm>

#include "framework/kernels/cpu/axis.h"
#include "framework/kernels/cpu/indexing.h"
#include "framework/op/out.h"

namespace weir {
namespace WEIR_ISA {
namespace {

template <class T> void write_at_place(const T& op, Inputs in, Outputs out) {
  if (out[0].numel()) run_copy(in[0], out[0]);
  const Geometry g = op.place(out[0]);
  if (g.sizes.product()) run_copy(in[1], alias(out[0], g.sizes, g.strides, g.offset));
}

// Where in memory the window lies is said of input's whole storage, of which it need not show all.
void as_strided_scatter(const AsStridedScatter& op, Inputs in, Outputs out) {
  const Tensor x = repeats(in[0]) ? copied(in[0], Meta(in[0].sizes(), in[0].dtype())) : in[0];
  if (x.numel() == 0) return;
  const Dims all{int64_t(x->storage->bytes / size_of(x.dtype()))};
  if (x.is_contiguous() && all[0] == x.numel() && out[0].is_contiguous()) return write_at_place(op, std::array{x, in[1]}, out);
  const Tensor memory = copied(alias(x, all, Dims{1}, 0), Meta(all, x.dtype()));
  const Geometry g = op.place(x);
  if (g.sizes.product()) run_copy(in[1], alias(memory, g.sizes, g.strides, g.offset));
  run_copy(alias(memory, x.sizes(), x.strides(), x->offset), out[0]);
}

// Each window is added where it was taken from; behind the axis, `inner` positions have windows of their own.
void unfold_backward(const UnfoldBackward& op, Inputs in, Outputs out) {
  if (out[0].numel() == 0) return;
  const Tensor dy = row_major(in[0]);
  const Axis x(out[0].sizes(), op.dim, "unfold");
  const int64_t windows = dy.sizes()[wrap_dim(op.dim, out[0].ndim(), "unfold")];
  visit_dtype(out[0].dtype(), [&]<class T>(TypeTag<T>) {
    const T* from = dy.data<T>();
    T* to = out[0].data<T>();
    parallel_for(x.outer, kGrain / (x.n * x.inner), [&](int64_t b, int64_t e) {
      std::fill(to + b * x.n * x.inner, to + e * x.n * x.inner, T(0));
      for (int64_t o = b; o < e; o++)
        for (int64_t w = 0; w < windows; w++)
          for (int64_t i = 0; i < x.inner; i++) {
            const T* window = from + ((o * windows + w) * x.inner + i) * op.size;
            T* at = to + (o * x.n + w * op.step) * x.inner + i;
            if (x.inner == 1) for (int64_t k = 0; k < op.size; k++) add_to(at[k], window[k]);
            else for (int64_t k = 0; k < op.size; k++) add_to(at[k * x.inner], window[k]);
          }
    });
  });
}

}  // namespace

static const bool registered = [] {
  set_kernel<DiagonalScatter, write_at_place<DiagonalScatter>>(DeviceType::cpu);
  set_kernel<SelectScatter, write_at_place<SelectScatter>>(DeviceType::cpu);
  set_kernel<SliceScatter, write_at_place<SliceScatter>>(DeviceType::cpu);
  set_kernel<AsStridedScatter, as_strided_scatter>(DeviceType::cpu);
  set_kernel<UnfoldBackward, unfold_backward>(DeviceType::cpu);
  return true;
}();

}  // namespace WEIR_ISA
}  // namespace weir
