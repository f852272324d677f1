// How the examples of a batch lie in memory: what the interpreter of batch.h looks at.
#pragma once
#include <algorithm>

#include "framework/core/generator.h"
#include "framework/op/batch.h"

namespace weir {

inline const BatchAxis* axis_of(const Tensor& t, uint64_t level) {
  if (!t.is_batched()) return nullptr;
  for (const BatchAxis& a : t->storage->batch->axes)
    if (a.level == level) return &a;
  return nullptr;
}

inline int64_t in_elements(int64_t bytes, DType dtype) {
  const int64_t size = int64_t(size_of(dtype));
  check(bytes % size == 0, "vmap: examples lie ", bytes, " bytes apart, which is no whole number of elements of ", name_of(dtype));
  return bytes / size;
}

inline const StorageRef& memory_of(const Tensor& t) { return t.is_batched() ? t->storage->batch->memory : t->storage; }

// A tensor over the memory itself: `sizes` and `strides` are shown.
inline Tensor shown(const Tensor& t, const Dims& sizes, const Dims& strides) {
  Tensor r = alias(memory_of(t), t.dtype(), sizes, strides, t->offset);
  r->flags |= t->flags & ~uint32_t(kRequiresGrad);
  return r;
}

// The whole batch as one tensor: its axes in front of an example's, which are broadcast to `sizes`. Examples that share `t` repeat it.
inline Tensor whole(const Tensor& t, const Axes& axes, const Dims& sizes) {
  Dims all, strides;
  for (const BatchAxis& a : axes) {
    const BatchAxis* own = axis_of(t, a.level);
    all.push(a.size);
    strides.push(own ? in_elements(own->stride, t.dtype()) : 0);
  }
  const int lead = sizes.n - t.ndim();
  for (int i = 0; i < sizes.n; i++) {
    all.push(sizes[i]);
    strides.push(i < lead || (t.sizes()[i - lead] == 1 && sizes[i] != 1) ? 0 : t.strides()[i - lead]);
  }
  return shown(t, all, strides);
}
inline Tensor whole(const Tensor& t, const Axes& axes) { return whole(t, axes, t.sizes()); }

inline int64_t count(const Axes& axes) {
  Dims sizes;
  for (const BatchAxis& a : axes) sizes.push(a.size);
  return sizes.product();
}

// Whether these are axes of vmaps in force that were told this of random numbers.
inline bool all_draw(Randomness how, const Axes& axes) {
  return std::all_of(axes.begin(), axes.end(), [&](const BatchAxis& a) {
    const BatchLevel* l = level_in_force(a.level);
    return l && l->randomness == how;
  });
}

}  // namespace weir
