#include "framework/ops/slice_inverse.h"

#include <limits>

#include "framework/graph/trace.h"
#include "framework/ops/create.h"
#include "framework/ops/rearrange.h"

namespace weir {

Geometry SliceInverse::geometry(Inputs in) const {
  const Tensor& src = in[1];
  for (const Tensor& t : in) graph::check_place_is_known(t, "slice_inverse is told a place in the memory of");
  AsStrided seen;
  seen.size = src.sizes(), seen.stride = src.strides(), seen.storage_offset = src->offset;
  return seen.geometry(in.first(1));
}

Tensors SliceInverse::vjp(const Saved& s, const Tensor& dy) const {
  constexpr int64_t most = std::numeric_limits<int64_t>::max();
  const Tensor own = fn::slice(dy, dim, start.value_or(0), end.value_or(most), step);
  return {s.needs(0) ? own : Tensor(), s.needs(1) ? fn::slice_scatter(dy, zeros_of(own.meta()), dim, start, end, step) : Tensor()};
}

static const SliceInverseOps::Registration ops;

}  // namespace weir
