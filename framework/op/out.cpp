#include "framework/op/out.h"

#include "framework/core/warn.h"
#include "framework/op/copy.h"

namespace weir {
namespace {

constexpr const char* kClone = "Please clone() the tensor before performing the operation.";

void check_not_met(bool met) {
  check(!met, "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory location. ", kClone);
}
bool is_known(Overlap met) { return met == Overlap::full || met == Overlap::partial; }

bool dense(const Tensor& t) { return is_non_overlapping_and_dense(t.sizes(), t.strides()); }

// `out` as it will be once it has the result's shape.
Tensor resized(const Tensor& out, const Dims& sizes) {
  if (out.sizes() == sizes) return out;
  return alias(out->storage, out.dtype(), sizes, contiguous_strides(sizes), out->offset);
}

}  // namespace

Overlap overlap(const Tensor& a, const Tensor& b) {
  if (a == b) return Overlap::full;
  if (a.numel() == 0 || b.numel() == 0 || a->storage != b->storage) return Overlap::none;
  if (!dense(a) || !dense(b)) return Overlap::unknown;
  const int64_t a_at = a->offset * int64_t(size_of(a.dtype())), b_at = b->offset * int64_t(size_of(b.dtype()));
  const int64_t a_end = a_at + a.numel() * int64_t(size_of(a.dtype())), b_end = b_at + b.numel() * int64_t(size_of(b.dtype()));
  if (a_at == b_at && a_end == b_end) return a.strides() == b.strides() ? Overlap::full : Overlap::partial;
  return a_at < b_end && b_at < a_end ? Overlap::partial : Overlap::none;
}

bool repeats(const Tensor& written) {
  bool found = false;
  for (int i = 0; i < written.ndim(); i++) found = found || (written.strides()[i] == 0 && written.sizes()[i] > 1);
  return found && written.numel() > 0;
}

void check_no_repeats(const Tensor& written) {
  check(!repeats(written), "unsupported operation: more than one element of the written-to tensor refers to a single memory location. ", kClone);
}

void check_apart(const Tensor& written, Inputs read) {
  for (const Tensor& x : read) check_not_met(x && is_known(overlap(written, x)));
}

void check_not_shifted(const Tensor& written, Inputs read) {
  for (const Tensor& x : read) check_not_met(x && overlap(written, x) == Overlap::partial);
}

void check_out(std::string_view op, Out rule, bool elementwise, const Tensor& out, const Meta& result, Inputs in) {
  const bool part = elementwise && rule == Out::same && !in.empty() && in[0] && is_complex(in[0].dtype()) && is_floating(result.dtype);
  check((rule != Out::exact && rule != Out::same) || out.dtype() == result.dtype || part, op, ": Expected out tensor to have dtype ", name_of(result.dtype),
        ", but got ", name_of(out.dtype()), " instead");
  check(rule != Out::truth || out.dtype() == DType::boolean || out.dtype() == DType::uint8, op, " only supports bool tensor for result, got: ",
        name_of(out.dtype()));
  check<TypeError>(rule != Out::joined || can_cast(result.dtype, out.dtype()),
                   "torch.cat(): input types can't be cast to the desired output type ", name_of(out.dtype()));
  check(can_cast(result.dtype, out.dtype()), op, ": result type ", name_of(result.dtype),
        " can't be cast to the desired output type ", name_of(out.dtype()));
  Tensor written = rule == Out::row && out.numel() == result.sizes.product() ? out : resized(out, result.sizes);
  check_no_repeats(elementwise ? out : written);  // which elements of another shape do no more. Source: PyTorch, whose element-wise loops look before they resize
  const bool shared = rule == Out::cast || rule == Out::same || rule == Out::truth || rule == Out::row;
  if (!shared) check_apart(written, in);
  else if (elementwise) check_not_shifted(written, in);
}

void check_out_history(std::string_view op, const Tensor& out, const Tensor& result) {
  if (!mode.grad || !is_inexact(result.dtype())) return;
  auto recorded = [](const Tensor& t) { return ((t->flags | (t->base ? t->base->flags : 0)) & kRequiresGrad) != 0; };
  check(!recorded(result) && !recorded(out), op, "(): functions with out=... arguments don't support automatic "
        "differentiation, but one of the arguments requires grad.");
}

void warn_of_resize(const Dims& had, const Dims& sizes) {
  if (had.product() != 0)
    warn(str("An output with one or more elements was resized since it had shape ", had, ", which does not match the required output shape ", sizes,
             ". Resize it to nothing first where it is to be used again: out.resize_(0)."));
}

void resize_out(const Tensor& out, const Dims& sizes) {
  if (out.sizes() == sizes) return;
  const Dims had = out.sizes();
  resize(out, sizes);
  warn_of_resize(had, sizes);
}

void shape_out(const Tensor& out, const Meta& result) {
  if (out.sizes() == result.sizes || !can_cast(result.dtype, out.dtype())) return;
  resize_out(out, result.sizes);
  if (!result.row_major()) set_geometry(out, result.sizes, result.strides, out->offset);
}

void write_out(std::string_view op, const Tensor& out, const Tensor& value, Out rule) {
  if (rule == Out::row && out.numel() == value.numel()) return write_out(op, out, value.ndim() == 1 && out.ndim() != 1 ? alias(value, out.sizes(), contiguous_strides(out.sizes()), value->offset) : value);
  check(can_cast(value.dtype(), out.dtype()), op, ": result type ", name_of(value.dtype()),
        " can't be cast to the desired output type ", name_of(out.dtype()));
  if (!(out.sizes() == value.sizes())) {
    resize_out(out, value.sizes());
    if (dense(value)) set_geometry(out, value.sizes(), value.strides(), out->offset);
  }
  copy_into(out, value);
}

void call_list_into(const OpType& type, const void* op, Inputs in, const Tensors& out) {
  const std::string_view name = type.signature->name;
  for (const Tensor& t : out)
    check(type.out.history != OutHistory::refused || !mode.grad || !t.has_flag(kRequiresGrad), name, "(): functions with out=... arguments don't support "
          "automatic differentiation, but one of the arguments requires grad.");
  GradMode off(false);
  const Tensors parts = call_list(type, op, in);
  check(parts.size() == out.size(), name, "() expected an out= argument of size ", parts.size(), ", got size ", out.size());
  for (size_t i = 0; i < out.size(); i++) {
    if (type.out.takes == Out::apart) {
      copy_into(out[i], parts[i]);
      continue;
    }
    check_out(name, type.out.takes, false, out[i], parts[i].meta(), {});
    if (!(out[i].sizes() == parts[i].sizes())) bump_version(out[i]);  // a resize counts as a write of its own
    write_out(name, out[i], parts[i], type.out.takes);
  }
}

}  // namespace weir
