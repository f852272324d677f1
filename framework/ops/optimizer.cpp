#include "framework/ops/optimizer.h"

#include "framework/op/changes.h"

namespace weir {
namespace {

bool is_number(const Tensor& t) {
  return t.numel() == 1 && (t.dtype() == DType::float32 || t.dtype() == DType::float64 || t.dtype() == DType::boolean);
}

}  // namespace

bool takes_update(const UpdateLayout& layout, Inputs run, bool halves_too) {
  const Tensor& p = run[0];
  if ((p.dtype() != DType::float32 && p.dtype() != DType::float64) || p.device().type != DeviceType::cpu) return false;
  const bool rows = p.is_contiguous();
  if (!rows && !is_non_overlapping_and_dense(p.sizes(), p.strides())) return false;
  for (int i = 0; i < layout.width(); i++) {
    const Tensor& t = run[i];
    if (!t || t->flags & kMarks || t.device().type != DeviceType::cpu) return false;
    if (i >= 2 && i < 2 + layout.numbers) {
      if (!is_number(t)) return false;
    } else if (!(t.dtype() == p.dtype() || (i == 1 && halves_too && is_reduced(t.dtype()) && p.dtype() == DType::float32)) || !(t.sizes() == p.sizes()) || !((rows && t.is_contiguous()) || same_layout(p.sizes(), t.strides(), p.strides()))) {
      return false;
    }
  }
  return true;
}

Meta infer_update(const OpType& type, const UpdateLayout& layout, Inputs in) {
  const size_t width = size_t(layout.width());
  check(in.size() > width && (in.size() - 1) % width == 0, type.signature->name, ": expected ", width, " tensors per parameter and the rate, got ", in.size());
  for (size_t i = 0; i + 1 < in.size(); i += width)
    check<NotImplemented>(takes_update(layout, in.subspan(i, width), true) && in[i].dtype() == in[0].dtype(), type.signature->name,
                          ": takes float32 or float64 tensors of one dense layout on the CPU");
  check(in.back() && in.back().numel() == 1, type.signature->name, ": the rate is one number");
  check(!is_complex(in.back().dtype()), type.signature->name, ": the rate is a real number, got one of dtype ", name_of(in.back().dtype()));
  return {in[0].sizes(), in[0].strides(), in[0].dtype(), in[0].device()};  // written in place: as it lies
}

static std::vector<int> changed_by_update(const UpdateLayout& layout, Inputs in) {
  std::vector<int> r;
  for (int i = 1; i + 1 < int(in.size()); i++)
    if (i % layout.width() != 1) r.push_back(i);
  return r;
}

std::optional<UpdateLayout> layout_of_update(const OpType& type, const void* op) {
  std::optional<UpdateLayout> found;
  OptimizerOps::for_each([&]<class T>(TypeTag<T>) {
    if (&op_type<T>() == &type) found = static_cast<const T*>(op)->layout();
  });
  return found;
}

static const OptimizerOps::Registration ops;
static const bool changing = [] {
  OptimizerOps::for_each([]<class T>(TypeTag<T>) {
    set_changes(op_type<T>(), [](const void* op, Inputs in) { return changed_by_update(static_cast<const T*>(op)->layout(), in); });
    set_run_width(op_type<T>(), [](const void* op) { return static_cast<const T*>(op)->layout().width(); });
  });
  return true;
}();

}  // namespace weir
