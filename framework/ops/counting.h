// Ops whose result's shape depends on the values: their kernels count, allocate and fill (`dynamic_shape`).
#pragma once
#include "framework/op/call.h"

namespace weir {

struct Nonzero : Op {
  static constexpr Signature signature = "nonzero_rows(input: Tensor) -> Tensor";
  static constexpr auto doc = "int64 coordinates of the nonzero elements, a row each, stored axis by axis. Shape: (count, ndim).";
  static constexpr Module module = Module::hidden;
  static constexpr bool dynamic_shape = true;
  static constexpr GradientRule gradient{.exists = false};
  Meta infer(Inputs in) const;
};

struct UniqueRows : Op {
  static constexpr Signature signature =
      "unique_rows(input: Tensor, consecutive: bool, return_inverse: bool = True, return_counts: bool = True) -> (values: Tensor, inverse: Tensor, counts: Tensor)";
  static constexpr auto doc =
      "The different rows of a matrix in order, or with `consecutive` the first of each run of equal ones; where each row went, and "
      "how many went there, each empty where it is not asked for. A vector is a matrix of one column. Shape: (count, columns), (rows), (count).";
  static constexpr Module module = Module::hidden;
  static constexpr bool dynamic_shape = true;
  static constexpr GradientRule gradient{.outputs = 0b1};
  bool consecutive, return_inverse, return_counts;
  static constexpr Fields fields{&UniqueRows::consecutive, &UniqueRows::return_inverse, &UniqueRows::return_counts};
  std::array<Meta, 3> infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Distinct : Op {
  static constexpr Signature signature =
      "unique_values(input: Tensor, consecutive: bool, dim: int | None = None, return_inverse: bool = True, return_counts: bool = True) -> "
      "(values: Tensor, inverse: Tensor, counts: Tensor)";
  static constexpr auto doc = "unique_rows of all elements, or of the slices along dim. RuntimeError for slices of nothing.";
  static constexpr Module module = Module::hidden;
  static constexpr OutRule out{Out::none};
  bool consecutive;
  std::optional<int64_t> dim;
  bool return_inverse, return_counts;
  static constexpr Fields fields{&Distinct::consecutive, &Distinct::dim, &Distinct::return_inverse, &Distinct::return_counts};
  Tensors compose(Inputs in) const;
};

struct RepeatIndex : Op {
  static constexpr Signature signature = "repeat_interleave.Tensor(repeats: Tensor, *, output_size: int | None = None) -> Tensor";
  static constexpr auto doc = "i, repeats[i] times, for each i: the index that repeat_interleave selects by. Shape: (sum of repeats).";
  static constexpr Notation notation = "move";
  static constexpr bool dynamic_shape = true;
  static constexpr GradientRule gradient{.exists = false};
  static constexpr OutRule out{Out::none};
  std::optional<int64_t> output_size;
  static constexpr Fields fields{&RepeatIndex::output_size};
  Meta infer(Inputs in) const;
};

struct RepeatInterleave : Op {
  static constexpr Signature signature =
      "repeat_interleave.self_int(input: Tensor, repeats: int, dim: int | None = None, *, output_size: int | None = None) -> Tensor";
  static constexpr auto doc = "Each element repeated `repeats` times along dim, of the flattened tensor without dim.";
  static constexpr Autocast autocast = Autocast::opaque;
  static constexpr OutRule out{Out::none};
  int64_t repeats;
  std::optional<int64_t> dim, output_size;
  static constexpr Fields fields{&RepeatInterleave::repeats, &RepeatInterleave::dim, &RepeatInterleave::output_size};
  Tensor compose(Inputs in) const;
};

struct RepeatInterleaveTensor : Op {
  static constexpr Signature signature =
      "repeat_interleave.self_Tensor(input: Tensor, repeats: Tensor, dim: int | None = None, *, output_size: int | None = None) -> Tensor";
  static constexpr auto doc = "Each element repeated repeats[i] times along dim.";
  static constexpr Autocast autocast = Autocast::opaque;
  static constexpr OutRule out{Out::none};
  std::optional<int64_t> dim, output_size;
  static constexpr Fields fields{&RepeatInterleaveTensor::dim, &RepeatInterleaveTensor::output_size};
  Tensor compose(Inputs in) const;
};

struct Bincount : Op {
  static constexpr Signature signature = "bincount(input: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Tensor";
  static constexpr auto doc = "How often each non-negative integer occurs, or the sums of their weights. Shape: (max + 1 or minlength).";
  static constexpr Notation notation = "scatter";
  static constexpr OutRule out{Out::none};
  static constexpr bool dynamic_shape = true;
  static constexpr GradientRule gradient{.exists = false};
  int64_t minlength;
  static constexpr Fields fields{&Bincount::minlength};
  Meta infer(Inputs in) const;
};

using CountingOps = OpList<Nonzero, UniqueRows, Distinct, RepeatInterleaveTensor, RepeatInterleave, RepeatIndex, Bincount>;

namespace fn {
inline constexpr Fn<Nonzero> nonzero_rows;
inline constexpr Fn<UniqueRows> unique_rows;
inline constexpr Fn<RepeatIndex> repeat_index;
inline constexpr Fn<RepeatInterleave, RepeatInterleaveTensor> repeat_interleave;
inline constexpr Fn<Bincount> bincount;
}  // namespace fn

}  // namespace weir
