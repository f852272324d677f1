#include "framework/ops/embedding.h"

#include "framework/ops/arithmetic.h"
#include "framework/ops/compare.h"
#include "framework/ops/create.h"
#include "framework/ops/functional.h"
#include "framework/ops/index.h"
#include "framework/ops/reduce.h"
#include "framework/ops/view.h"

namespace weir {
namespace {

enum Modes { kSum, kMean, kMax };

bool is_index(DType t) { return t == DType::int64 || t == DType::int32; }

// Source of the order of checks: PyTorch's check_arguments of embedding_bag.
void check_bags(const Tensor& w, const Tensor& indices, const Tensor& offsets, const Tensor& scale, int64_t mode, bool include_last) {
  check(is_index(indices.dtype()), "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got ",
        name_of(indices.dtype()), " instead (while checking arguments for embedding_bag)");
  check(is_index(offsets.dtype()), "Expected tensor for argument #1 'offsets' to have one of the following scalar types: Long, Int; but got ",
        name_of(offsets.dtype()), " instead (while checking arguments for embedding_bag)");
  check(is_floating(w.dtype()), "Expected tensor for argument #1 'weight' to have one of the following scalar types: Half, BFloat16, Float, "
        "Double; but got ", name_of(w.dtype()), " instead (while checking arguments for embedding_bag)");
  check(mode >= kSum && mode <= kMax, "`mode` must be sum, mean, or max.");
  check(!scale || mode == kSum, "embedding_bag: per_sample_weights only supported with mode='sum'");
  check(!scale || scale.dtype() == w.dtype(), "Expected tensor for argument #1 'weight' to have the same type as tensor for argument #1 "
        "'per_sample_weights'; but type ", name_of(w.dtype()), " does not equal ", scale ? name_of(scale.dtype()) : "",
        " (while checking arguments for embedding_bag)");
  check(!scale || (scale.ndim() == 1 && scale.numel() == indices.numel()), "embedding_bag: per_sample_weights must be a vector of as many "
        "numbers as there are indices");
  check(!include_last || offsets.numel() >= 1, "include_last_offset: number of offset should be at least 1");
}

// The sum of rows that PyTorch selects directly, whose gradient needs no bag of each index.
bool selects_directly(const Tensor& w, const Tensor& scale, int64_t mode, int64_t padding_idx) {
  return mode == kSum && w.dtype() != DType::float64 && w.strides()[1] == 1 && padding_idx < 0 && (!scale || scale.strides()[0] == 1);
}

Tensors bags(Inputs in, bool by_frequency, int64_t mode, bool include_last, int64_t padding_idx) {
  const Tensor &w = in[0], &scale = in[3];
  check(w.ndim() == 2, "weight has to be a 2D Tensor, but got Tensor of dimension ", w.ndim());
  check(in[1].ndim() == 1 || in[1].ndim() == 2, "input has to be a 1D or 2D Tensor, but got Tensor of dimension ", in[1].ndim());
  check(in[2].ndim() == 1, "offsets has to be a 1D Tensor, but got Tensor of dimension ", in[2].ndim());
  Tensor indices = in[1], offsets = in[2];
  if (indices.dtype() != offsets.dtype()) {  // which lets a narrow one through beside one of int32 or int64, as in PyTorch
    const DType common = promote_types(indices.dtype(), offsets.dtype());
    indices = cast_to(indices, common), offsets = cast_to(offsets, common);
  }
  auto r = fn::embedding_bag_forward(w, indices, offsets, scale, by_frequency, mode, include_last, padding_idx);
  Device device = w.device();
  if (selects_directly(w, scale, mode, padding_idx)) r[1] = empty(Dims{0}, offsets.dtype(), device);
  if (mode == kSum) {
    bool recorded = mode == kSum && r[0].has_flag(kRequiresGrad) && w.has_flag(kRequiresGrad);
    Meta none(Dims{offsets.numel() - (include_last && recorded)}, offsets.dtype(), device);
    r[2] = zeros_of(none), r[3] = zeros_of(none);
  }
  return {r[0], r[1], r[2], r[3]};
}

}  // namespace

std::array<Meta, 4> EmbeddingBagForward::infer(Inputs in) const {
  const Tensor &w = in[0], &indices = in[1], &offsets = in[2];
  check_bags(w, indices, offsets, in[3], mode, include_last_offset);
  DType t = offsets.dtype();
  int64_t count = offsets.numel() - include_last_offset;
  Meta bag(Dims{count}, t, w.device());
  Dims sizes{count, w.sizes()[1]};
  return {Meta(sizes, w.dtype(), w.device()), Meta(Dims{indices.numel()}, t, w.device()), bag, mode == kMax ? Meta(sizes, t, w.device()) : bag};
}

Tensors EmbeddingBagForward::vjp(const Saved& s, const Tensor& dy) const {
  Tensor w = s.input(0), indices = s.input(1), scale = s.input(3), bag = detach(s.output(1));
  Tensors grads(4);
  if (s.needs(0))
    grads[0] = fn::embedding_bag_backward(dy, indices, bag, detach(s.output(2)), detach(s.output(3)), scale, w.sizes()[0], scale_grad_by_freq, mode, padding_idx);
  if (scale && s.needs(3)) {
    Tensor products = fn::sum(fn::index_select(dy, int64_t(0), bag) * fn::index_select(w, int64_t(0), fn::reshape(indices, Dims{-1})), Dims{-1});
    grads[3] = padding_idx < 0 ? products : fn::where(fn::eq(fn::reshape(indices, Dims{-1}), num(padding_idx)), 0.0, products);
  }
  return grads;
}

Meta EmbeddingBagBackward::infer(Inputs in) const { return {Dims{num_weights, in[0].size(1)}, in[0].dtype(), in[0].device()}; }

Tensors EmbeddingBag::compose(Inputs in) const { return bags(in, scale_grad_by_freq, mode, include_last_offset, -1); }
Tensors EmbeddingBagPadded::compose(Inputs in) const {
  int64_t rows = in[0].ndim() ? in[0].sizes()[0] : 0, padding = padding_idx.value_or(-1);
  check(!padding_idx || (padding >= -rows && padding < rows), "padding_idx must be within the number of embeddings, ", -rows, " through ",
        rows - 1, ", but got ", padding);
  return bags(in, scale_grad_by_freq, mode, include_last_offset, padding_idx && padding < 0 ? padding + rows : padding);
}

Meta EmbeddingRenorm::infer(Inputs in) const {
  check(in[0].ndim() == 2, "embedding_renorm_: 'self' must be 2-D, got ", in[0].sizes());
  check(is_index(in[1].dtype()), "Expected tensor for argument #2 'indices' to have one of the following scalar types: Long, Int; but got ",
        name_of(in[1].dtype()), " instead (while checking arguments for embedding_renorm_)");
  check(in[1].numel() == 0 || is_inexact(in[0].dtype()), "norm(): input dtype should be either floating point or complex. Got ", name_of(in[0].dtype()), " instead.");
  Meta m(in[0].sizes(), in[0].dtype(), in[0].device());
  m.strides = in[0].strides();
  return m;
}

static void check_classes(const Tensor& t, int64_t num_classes) {
  check(t.dtype() == DType::int64, "one_hot is only applicable to index tensor of type LongTensor.");
  check(t.numel() > 0 || num_classes > 0, "Can not infer total number of classes from empty tensor.");
}
Meta OneHotCounted::infer(Inputs in) const {
  check_classes(in[0], -1);
  return {Dims{0}, DType::int64, in[0].device()};
}
Meta OneHotOf::infer(Inputs in) const {
  check_classes(in[0], num_classes);
  check(num_classes > 0, "num_classes should be positive");
  Dims sizes = in[0].sizes();
  sizes.push(num_classes);
  return {sizes, DType::int64, in[0].device()};
}
Tensor OneHot::compose(Inputs in) const { return num_classes == -1 ? fn::one_hot_counted(in[0]) : fn::one_hot_of(in[0], num_classes); }

static const EmbeddingOps::Registration ops;

}  // namespace weir
