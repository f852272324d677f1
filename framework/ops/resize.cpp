#include "framework/ops/resize.h"

#include "framework/autograd/variable.h"
#include "framework/core/unset.h"
#include "framework/graph/trace.h"
#include "framework/op/copy.h"
#include "framework/ops/factory.h"

namespace weir {

MemoryFormat suggested_format(const Tensor& t) {
  if (!suggests_channels_last(t.sizes(), t.strides())) return MemoryFormat::contiguous;
  return t.ndim() == 4 ? MemoryFormat::channels_last : MemoryFormat::channels_last_3d;
}

bool is_dense_in(const Tensor& t, MemoryFormat format) {
  if (format == MemoryFormat::contiguous || format == MemoryFormat::preserve) return t.is_contiguous();
  return t.ndim() == (format == MemoryFormat::channels_last ? 4 : 5) && is_channels_last(t.sizes(), t.strides());
}

void resize_to(const Tensor& t, const Dims& sizes, std::optional<Dims> strides, std::optional<MemoryFormat> format) {
  if (format) {
    const Meta m = in_format({sizes, t.dtype(), t.device()}, format, "resize_");
    strides = m.row_major() ? contiguous_strides(sizes) : m.strides;
  }
  const bool same = t.sizes() == sizes;
  if (same && !strides) return;
  graph::check_place_is_known(t, "resize_ takes more of the memory of");
  const size_t bytes = t->storage->bytes;
  resize(t, sizes);
  if (const Storage& s = *t->storage; fill_unset_memory && s.bytes > bytes) write_unset(s.data + bytes, int64_t(s.bytes - bytes), t.dtype());
  if (strides) {  // dense, as a memory format has it
    check(strides->n == sizes.n, "resize_: ", strides->n, " strides for ", sizes.n, " sizes");
    set_geometry(t, sizes, *strides, t->offset);
  }
  if (!same) bump_version(t);
}

Tensor ResizeAs::compose(Inputs in) const {
  check(!requires_grad(in[0]), "cannot resize variables that require grad");
  resize_to(in[0], in[1].sizes(), std::nullopt, memory_format == MemoryFormat::preserve ? suggested_format(in[1]) : memory_format);
  return in[0];
}

static const ResizeOps::Registration ops;

}  // namespace weir
