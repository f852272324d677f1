// Ops that make tensors, and the small C++ helpers over them.
#pragma once
#include "framework/autograd/variable.h"
#include "framework/op/call.h"

namespace weir {

struct Clone : Op {
  static constexpr Signature signature = "clone(input: Tensor, *, memory_format: memory_format | None = None) -> Tensor";
  static constexpr auto doc = "A copy; strides are kept when dense, unless a memory format is given. Source: PyTorch.";
  static constexpr OutRule out{Out::none};
  static constexpr Layouts layouts = Layouts::any;
  static constexpr Notation notation = "pointwise";
  std::optional<MemoryFormat> memory_format;
  static constexpr Fields fields{&Clone::memory_format};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct ToDtype : Op {
  static constexpr Signature signature = "to_dtype(input: Tensor, dtype: dtype) -> Tensor";
  static constexpr auto doc = "Cast to a dtype, strides kept. Always a new tensor.";
  static constexpr Module module = Module::hidden;
  static constexpr Layouts layouts = Layouts::any;
  static constexpr Notation notation = "pointwise";
  DType dtype;
  static constexpr Fields fields{&ToDtype::dtype};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Fill : Op {
  static constexpr Signature signature = "fill(input: Tensor, value: Tensor | Number) -> Tensor";
  static constexpr auto doc = "A tensor like input with every element set to value (0-d).";
  static constexpr CallRule calling{.writes_number = true};
  static constexpr OutRule out{Out::none};
  static constexpr InplaceRule inplace{.offered = true, .may_repeat = true};
  static constexpr Layouts layouts = Layouts::any;
  static constexpr Notation notation = "fill";
  void take_out(Inputs in, const Tensor& out) const;
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Zero : Op {
  static constexpr Signature signature = "zero(input: Tensor) -> Tensor";
  static constexpr auto doc = "A tensor like input of zeros.";
  static constexpr Module module = Module::method;
  static constexpr OutRule out{Out::none};
  static constexpr InplaceRule inplace{.offered = true, .may_repeat = true};
  static constexpr Layouts layouts = Layouts::any;
  static constexpr Notation notation = "fill";
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Linspace : Op {
  static constexpr Signature signature = "linspace_fill(start: Number, end: Number, steps: int, dtype: dtype) -> Tensor";
  static constexpr auto doc = "`steps` equally spaced numbers from start to end, both included.";
  static constexpr Notation notation = "fill";
  static constexpr Module module = Module::hidden;
  Scalar start, end;
  int64_t steps;
  DType dtype;
  static constexpr Fields fields{&Linspace::start, &Linspace::end, &Linspace::steps, &Linspace::dtype};
  Meta infer(Inputs in) const;
};

struct Tril : Op {
  static constexpr Signature signature = "tril(input: Tensor, diagonal: int | Tensor = 0) -> Tensor";
  static constexpr auto doc = "The lower triangle of the last two axes, zero elsewhere.";
  static constexpr Notation notation = "move";
  static constexpr InplaceRule inplace{.offered = true, .may_repeat = true};
  int64_t diagonal;
  bool over_itself = false;  // in place: of elements that share memory all are zero where one of them is
  static constexpr Fields fields{&Tril::diagonal};
  void take_out(Inputs in, const Tensor& out) { over_itself = out == in[0]; }
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Triu : Op {
  static constexpr Signature signature = "triu(input: Tensor, diagonal: int | Tensor = 0) -> Tensor";
  static constexpr auto doc = "The upper triangle of the last two axes, zero elsewhere.";
  static constexpr Notation notation = "move";
  static constexpr InplaceRule inplace{.offered = true, .may_repeat = true};
  int64_t diagonal;
  bool over_itself = false;  // in place: of elements that share memory all are zero where one of them is
  static constexpr Fields fields{&Triu::diagonal};
  void take_out(Inputs in, const Tensor& out) { over_itself = out == in[0]; }
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

using CreateOps = OpList<Clone, ToDtype, Fill, Zero, Linspace, Tril, Triu>;

namespace fn {
inline constexpr Fn<Clone> clone;
inline constexpr Fn<ToDtype> to_dtype;
inline constexpr Fn<Fill> fill;
inline constexpr Fn<Zero> zero;
inline constexpr Fn<Linspace> linspace;
inline constexpr Fn<Tril> tril;
inline constexpr Fn<Triu> triu;
}  // namespace fn

/// A tensor of zeros; `full_of` of any number.
Tensor zeros_of(const Meta& meta);
Tensor full_of(const Meta& meta, const Scalar& value);
Tensor arange_of(int64_t n);
Tensor clone_of(const Tensor& t, std::optional<MemoryFormat> format = {});
/// Sets every element of `self` to `value` (0-d). An axis of `self` may repeat one element.
void fill_into(const Tensor& self, const Tensor& value);
/// `t` in another dtype; `t` itself when it has it.
Tensor cast_to(const Tensor& t, DType dtype);
/// Halves as float32, for what is to be rounded once; anything else, and nothing, as it is.
inline Tensor in_single(const Tensor& t) { return t && is_reduced(t.dtype()) ? cast_to(t, DType::float32) : t; }
/// `t` itself when row-major, else a row-major copy.
Tensor contiguous_of(const Tensor& t);
Tensor cat_of(const Tensors& tensors, int64_t dim);
Tensor flip_of(const Tensor& t, const Dims& dims);
Tensor gather_of(const Tensor& t, int64_t dim, const Tensor& index);
/// These two add to `fresh` itself, which nobody else holds: zeros need no copy to be added to.
Tensor scatter_add_of(Tensor fresh, int64_t dim, const Tensor& index, const Tensor& source);
Tensor index_add_of(Tensor fresh, int64_t dim, const Tensor& index, const Tensor& source);

}  // namespace weir
