// Rows of a table summed by bags, rows scaled to a norm, and one-hot rows. Source of each: the PyTorch page of its name.
#pragma once
#include "framework/op/call.h"

namespace weir {

struct EmbeddingBagForward : Op {
  static constexpr Signature signature =
      "embedding_bag_forward(weight: Tensor, indices: Tensor, offsets: Tensor, per_sample_weights: Tensor | None, scale_grad_by_freq: bool, mode: int, include_last_offset: bool, padding_idx: int) -> (output: Tensor, offset2bag: Tensor, bag_size: Tensor, max_indices: Tensor)";
  static constexpr auto doc =
      "The sum (mode 0), mean (1) or largest (2) of weight's rows per bag, which begins at its offset; the bag of each index, how many "
      "rows a bag has, and which row was largest. padding_idx (-1: none) counts nowhere.";
  static constexpr Notation notation = "gather";
  static constexpr Module module = Module::hidden;
  static constexpr GradientRule gradient{.outputs = 0b1};
  static constexpr Save saves{.inputs = 0b1011, .outputs = 0b1110};
  bool scale_grad_by_freq;
  int64_t mode;
  bool include_last_offset;
  int64_t padding_idx;
  static constexpr Fields fields{&EmbeddingBagForward::scale_grad_by_freq, &EmbeddingBagForward::mode,
                                     &EmbeddingBagForward::include_last_offset, &EmbeddingBagForward::padding_idx};
  std::array<Meta, 4> infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct EmbeddingBagBackward : Op {
  static constexpr Signature signature =
      "embedding_bag_backward(grad_output: Tensor, indices: Tensor, offset2bag: Tensor, bag_size: Tensor, max_indices: Tensor, per_sample_weights: Tensor | None, num_weights: int, scale_grad_by_freq: bool, mode: int, padding_idx: int) -> Tensor";
  static constexpr auto doc = "Gradient of embedding_bag_forward's weight. It has none of its own, as PyTorch's.";
  static constexpr Notation notation = "scatter";
  static constexpr Module module = Module::hidden;
  int64_t num_weights;
  bool scale_grad_by_freq;
  int64_t mode, padding_idx;
  static constexpr Fields fields{&EmbeddingBagBackward::num_weights, &EmbeddingBagBackward::scale_grad_by_freq,
                                     &EmbeddingBagBackward::mode, &EmbeddingBagBackward::padding_idx};
  Meta infer(Inputs in) const;
};

struct EmbeddingBag : Op {
  static constexpr Signature signature =
      "embedding_bag(weight: Tensor, indices: Tensor, offsets: Tensor, scale_grad_by_freq: bool = False, mode: int = 0, sparse: bool = False, per_sample_weights: Tensor | None = None, include_last_offset: bool = False) -> list[Tensor]";
  static constexpr auto doc = "As embedding_bag_forward; what its gradient does not need is empty or zero, as in PyTorch.";
  bool scale_grad_by_freq;
  int64_t mode;
  bool sparse, include_last_offset;
  static constexpr Fields fields{&EmbeddingBag::scale_grad_by_freq, &EmbeddingBag::mode, &EmbeddingBag::sparse,
                                     &EmbeddingBag::include_last_offset};
  Tensors compose(Inputs in) const;
};

struct EmbeddingBagPadded : Op {
  static constexpr Signature signature =
      "embedding_bag.padding_idx(weight: Tensor, indices: Tensor, offsets: Tensor, scale_grad_by_freq: bool, mode: int, sparse: bool, per_sample_weights: Tensor | None, include_last_offset: bool, padding_idx: int | None) -> list[Tensor]";
  static constexpr auto doc = "embedding_bag without the rows at padding_idx.";
  bool scale_grad_by_freq;
  int64_t mode;
  bool sparse, include_last_offset;
  std::optional<int64_t> padding_idx;
  static constexpr Fields fields{&EmbeddingBagPadded::scale_grad_by_freq, &EmbeddingBagPadded::mode, &EmbeddingBagPadded::sparse,
                                     &EmbeddingBagPadded::include_last_offset, &EmbeddingBagPadded::padding_idx};
  Tensors compose(Inputs in) const;
};

struct EmbeddingRenorm : Op {
  static constexpr Signature signature = "embedding_renorm(weight: Tensor, indices: Tensor, max_norm: float, norm_type: float) -> Tensor";
  static constexpr auto doc = "weight with the rows that indices name scaled to a norm of at most max_norm.";
  static constexpr Module module = Module::hidden;
  static constexpr InplaceRule inplace{.offered = true};
  static constexpr Layouts layouts = Layouts::any;
  static constexpr GradientRule gradient{.exists = false};
  double max_norm, norm_type;
  static constexpr Fields fields{&EmbeddingRenorm::max_norm, &EmbeddingRenorm::norm_type};
  Meta infer(Inputs in) const;
};

struct OneHotCounted : Op {
  static constexpr Signature signature = "one_hot_counted(tensor: Tensor) -> Tensor";
  static constexpr auto doc = "one_hot with as many classes as the largest one asks for.";
  static constexpr Notation notation = "scatter";
  static constexpr Module module = Module::hidden;
  static constexpr bool dynamic_shape = true;
  static constexpr GradientRule gradient{.exists = false};
  Meta infer(Inputs in) const;
};

struct OneHotOf : Op {
  static constexpr Signature signature = "one_hot_of(tensor: Tensor, num_classes: int) -> Tensor";
  static constexpr auto doc = "one_hot of a known number of classes.";
  static constexpr Notation notation = "scatter";
  static constexpr Module module = Module::hidden;
  static constexpr GradientRule gradient{.exists = false};
  int64_t num_classes;
  static constexpr Fields fields{&OneHotOf::num_classes};
  Meta infer(Inputs in) const;
};

struct OneHot : Op {
  static constexpr Signature signature = "one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor";
  static constexpr auto doc = "1 at each element's class, 0 elsewhere, int64. Shape: input's + (num_classes), or largest + 1 for -1.";
  static constexpr Module module = Module::functional;
  static constexpr OutRule out{Out::none};
  int64_t num_classes;
  static constexpr Fields fields{&OneHot::num_classes};
  Tensor compose(Inputs in) const;
};

using EmbeddingOps = OpList<EmbeddingBagForward, EmbeddingBagBackward, EmbeddingBag, EmbeddingBagPadded, EmbeddingRenorm, OneHotCounted, OneHotOf, OneHot>;

namespace fn {
inline constexpr Fn<EmbeddingBagForward> embedding_bag_forward;
inline constexpr Fn<EmbeddingBagBackward> embedding_bag_backward;
inline constexpr Fn<EmbeddingBag, EmbeddingBagPadded> embedding_bag;
inline constexpr Fn<EmbeddingRenorm> embedding_renorm;
inline constexpr Fn<OneHotCounted> one_hot_counted;
inline constexpr Fn<OneHotOf> one_hot_of;
inline constexpr Fn<OneHot> one_hot;
}  // namespace fn

}  // namespace weir
