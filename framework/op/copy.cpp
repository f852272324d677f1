#include "framework/op/copy.h"

#include "framework/core/layout.h"
#include "framework/core/warn.h"
#include "framework/op/out.h"

namespace weir {

void check_expandable(const char* op, const Dims& from, const Dims& to) {
  bool ok = from.n <= to.n;
  for (int i = 1; ok && i <= from.n; i++) ok = from[from.n - i] == 1 || from[from.n - i] == to[to.n - i];
  check(ok, op, ": The expanded size of the tensor must match the existing size. Target sizes: ", to,
        ". Tensor sizes: ", from);
}

Meta Copy::infer(Inputs in) const {
  check_expandable("copy_", in[1].sizes(), in[0].sizes());
  check_not_shifted(in[0], in.subspan(1, 1));
  warn_of_lost_parts(in[1].dtype(), in[0].dtype(), in[0].numel());
  return with_strides({in[0].sizes(), in[0].dtype(), in[0].device()}, in[0]);
}

// The engine reduces and casts a gradient to its input's shape and dtype. What was overwritten gets zeros.
Tensors Copy::vjp(const Saved& s, const Tensor& dy) const {
  static const OpType* fill = find_op("fill");
  Tensor zero;
  if (s.needs(0)) {
    Tensor in[2] = {dy, wrapped_number(Scalar(0))};
    call(*fill, fill->defaults.data(), in, &zero);  // not times zero: a gradient that is not finite belongs to src alone
  }
  return {zero, dy};
}

void copy_into(const Tensor& self, const Tensor& src) { fn::copy.inplace(self, src); }

void resize(const Tensor& self, const Dims& sizes) {
  // Memory from outside a trace keeps its size: the traced program will meet other memory of that size.
  if (mode.recorder && !(self->storage->symbolic && self->storage->trace == current_trace && !self->storage->release) && untraceable)
    untraceable(Obstacle::value, "memory from outside is given another size");
  int64_t reach = checked_add(self->offset, numel_of(sizes));
  grow(*self->storage, checked_mul(reach, int64_t(size_of(self.dtype()))));
  set_geometry(self, sizes, contiguous_strides(sizes), self->offset);
}

static const Register<Copy> ops;

}  // namespace weir
