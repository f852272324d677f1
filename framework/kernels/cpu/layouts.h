// The two layouts of images, between which kernels choose: row-major, and channels_last.
#pragma once

#include "framework/kernels/cpu/loops.h"

namespace weir {
namespace WEIR_ISA {

/// Whether t is channels_last and not row-major as well, as images of one channel or one position are.
inline bool only_channels_last(const Tensor& t) { return !t.is_contiguous() && is_channels_last(t.sizes(), t.strides()); }

inline Meta channels_last_meta(const Tensor& t) { return Meta(t.sizes(), channels_last_strides(t.sizes()), t.dtype(), t.device()); }

/// `t` itself where it has the layout, else a copy that does.
inline Tensor in_layout(const Tensor& t, bool channels_last) {
  if (!channels_last) return row_major(t);
  return is_channels_last(t.sizes(), t.strides()) ? t : copied(t, channels_last_meta(t));
}

}  // namespace WEIR_ISA
}  // namespace weir
