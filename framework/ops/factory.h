// Factories: ops that make a tensor of a size, or like another, without computing on one.
//
// `creates` gives them the keywords that all factories of PyTorch share: out=, layout=, pin_memory=, requires_grad=.
#pragma once
#include "framework/op/call.h"

namespace weir {

/// Where a new tensor lies. AssertionError for a device that is not there.
Device place_of_new(const std::optional<Device>& told, Device otherwise = {});

/// `m`, row-major, with the strides that `format` says. RuntimeError for a rank without it, and, naming `op`, for preserve_format, which a new tensor cannot have.
Meta in_format(Meta m, std::optional<MemoryFormat> format, const char* op);

struct Factory : Op {
  static constexpr CallRule calling{.creates = true};
  static constexpr GradientRule gradient{.exists = false};
  static constexpr Layouts layouts = Layouts::any;
};

struct Empty : Factory {
  static constexpr Signature signature =
      "empty(*size: int, dtype: dtype | None = None, device: device | None = None, memory_format: memory_format | None = None) -> Tensor";
  static constexpr auto doc = "An uninitialised tensor. Shape: size.";
  Dims size;
  std::optional<DType> dtype;
  std::optional<Device> device;
  std::optional<MemoryFormat> memory_format;
  static constexpr Fields fields{&Empty::size, &Empty::dtype, &Empty::device, &Empty::memory_format};
  void take_out(Inputs in, const Tensor& out) const;
  Meta infer(Inputs in) const;
};

struct EmptyStrided : Factory {
  static constexpr Signature signature =
      "empty_strided(size: list[int], stride: list[int], *, dtype: dtype | None = None, device: device | None = None) -> Tensor";
  static constexpr auto doc = "An uninitialised tensor of the given strides. RuntimeError for negative ones.";
  static constexpr OutRule out{Out::none};
  Dims size, stride;
  std::optional<DType> dtype;
  std::optional<Device> device;
  static constexpr Fields fields{&EmptyStrided::size, &EmptyStrided::stride, &EmptyStrided::dtype, &EmptyStrided::device};
  Meta infer(Inputs in) const;
};

struct EmptyPermuted : Factory {
  static constexpr Signature signature =
      "empty_permuted(size: list[int], physical_layout: list[int], *, dtype: dtype | None = None, device: device | None = None) -> Tensor";
  static constexpr auto doc = "An uninitialised tensor whose axes lie in memory in the order of physical_layout, the outermost first.";
  static constexpr OutRule out{Out::none};
  Dims size, physical_layout;
  std::optional<DType> dtype;
  std::optional<Device> device;
  static constexpr Fields fields{&EmptyPermuted::size, &EmptyPermuted::physical_layout, &EmptyPermuted::dtype, &EmptyPermuted::device};
  Meta infer(Inputs in) const;
};

/// What `zeros` and `ones` share: a size, and the default dtype and device unless told otherwise.
struct Sized : Factory {
  Dims size;
  std::optional<DType> dtype;
  std::optional<Device> device;
  static constexpr Fields fields{&Sized::size, &Sized::dtype, &Sized::device};
  Meta infer(Inputs in) const;
};

struct Zeros : Sized {
  static constexpr Signature signature = "zeros(*size: int, dtype: dtype | None = None, device: device | None = None) -> Tensor";
  static constexpr auto doc = "A tensor of zeros. Shape: size.";
  static constexpr Notation notation = "fill";
};

struct Ones : Sized {
  static constexpr Signature signature = "ones(*size: int, dtype: dtype | None = None, device: device | None = None) -> Tensor";
  static constexpr auto doc = "A tensor of ones. Shape: size.";
  static constexpr Notation notation = "fill";
};

struct Full : Factory {
  static constexpr Signature signature =
      "full(size: list[int], fill_value: Number, *, dtype: dtype | None = None, device: device | None = None) -> Tensor";
  static constexpr auto doc = "A tensor of one number, of whose kind its dtype is unless given. RuntimeError where dtype does not hold it.";
  static constexpr Notation notation = "fill";
  Dims size;
  Scalar fill_value;
  std::optional<DType> dtype;
  std::optional<Device> device;
  static constexpr Fields fields{&Full::size, &Full::fill_value, &Full::dtype, &Full::device};
  Meta infer(Inputs in) const;
};

struct ScalarTensor : Factory {
  static constexpr Signature signature =
      "scalar_tensor(s: Number, *, dtype: dtype | None = None, device: device | None = None) -> Tensor";
  static constexpr auto doc = "A 0-d tensor of a number, in the default dtype.";
  static constexpr Notation notation = "fill";
  static constexpr OutRule out{Out::none};
  Scalar s;
  std::optional<DType> dtype;
  std::optional<Device> device;
  static constexpr Fields fields{&ScalarTensor::s, &ScalarTensor::dtype, &ScalarTensor::device};
  Meta infer(Inputs in) const;
};

struct Eye : Factory {
  static constexpr Signature signature =
      "eye(n: int | Tensor, m: int | None = None, *, dtype: dtype | None = None, device: device | None = None) -> Tensor";
  static constexpr auto doc = "Ones on the diagonal, zeros elsewhere. Shape: (n, m), m being n unless given.";
  static constexpr Notation notation = "fill";
  int64_t n;
  std::optional<int64_t> m;
  std::optional<DType> dtype;
  std::optional<Device> device;
  static constexpr Fields fields{&Eye::n, &Eye::m, &Eye::dtype, &Eye::device};
  Meta infer(Inputs in) const;
};

struct Arange : Factory {
  static constexpr Signature signature =
      "arange.start_step(start: Number, end: Number, step: Number = 1, *, dtype: dtype | None = None, device: device | None = None) -> Tensor";
  static constexpr auto doc =
      "start, start + step, ... below end: int64 unless one of the three has a fraction. RuntimeError where step leads away from end.";
  static constexpr Notation notation = "fill";
  static constexpr OutRule out{Out::row};
  Scalar start, end, step;
  std::optional<DType> dtype;
  std::optional<Device> device;
  static constexpr Fields fields{&Arange::start, &Arange::end, &Arange::step, &Arange::dtype, &Arange::device};
  void take_out(Inputs in, const Tensor& out) const;
  Meta infer(Inputs in) const;
};

struct ArangeTo : Factory {
  static constexpr Signature signature = "arange(end: Number, *, dtype: dtype | None = None, device: device | None = None) -> Tensor";
  static constexpr auto doc = "0, 1, ... below end.";
  static constexpr OutRule out{Out::row};
  Scalar end;
  std::optional<DType> dtype;
  std::optional<Device> device;
  static constexpr Fields fields{&ArangeTo::end, &ArangeTo::dtype, &ArangeTo::device};
  void take_out(Inputs in, const Tensor& out) const;
  Tensor compose(Inputs in) const;
};

struct Range : Factory {
  static constexpr Signature signature =
      "range(start: Number, end: Number, step: Number = 1, *, dtype: dtype | None = None, device: device | None = None) -> Tensor";
  static constexpr auto doc =
      "start, start + step, ... up to end, which is included; in an integer dtype the three lose their fractions first. RuntimeError "
      "where step leads away from end. Deprecated in favour of arange.";
  static constexpr Notation notation = "fill";
  static constexpr OutRule out{Out::row};
  Scalar start, end, step;
  std::optional<DType> dtype;
  std::optional<Device> device;
  static constexpr Fields fields{&Range::start, &Range::end, &Range::step, &Range::dtype, &Range::device};
  Meta infer(Inputs in) const;
};

/// What the `_like` factories share: input's shape, and its dtype, device and dense strides unless told otherwise.
struct Like : Factory {
  static constexpr OutRule out{Out::none};
  std::optional<DType> dtype;
  std::optional<Device> device;
  std::optional<MemoryFormat> memory_format;
  static constexpr Fields fields{&Like::dtype, &Like::device, &Like::memory_format};
  Meta infer(Inputs in) const;
};

struct EmptyLike : Like {
  static constexpr Signature signature = "empty_like(input: Tensor, *, dtype: dtype | None = None, device: device | None = None, "
                                         "memory_format: memory_format | None = None) -> Tensor";
  static constexpr auto doc = "An uninitialised tensor of input's shape, dtype and (when dense) strides.";
};
struct ZerosLike : Like {
  static constexpr Signature signature = "zeros_like(input: Tensor, *, dtype: dtype | None = None, device: device | None = None, "
                                         "memory_format: memory_format | None = None) -> Tensor";
  static constexpr auto doc = "Zeros in input's shape, dtype and (when dense) strides.";
  static constexpr Notation notation = "fill";
};
struct OnesLike : Like {
  static constexpr Signature signature = "ones_like(input: Tensor, *, dtype: dtype | None = None, device: device | None = None, "
                                         "memory_format: memory_format | None = None) -> Tensor";
  static constexpr auto doc = "Ones in input's shape, dtype and (when dense) strides.";
  static constexpr Notation notation = "fill";
};
struct FullLike : Factory {
  static constexpr Signature signature = "full_like(input: Tensor, fill_value: Number, *, dtype: dtype | None = None, "
                                         "device: device | None = None, memory_format: memory_format | None = None) -> Tensor";
  static constexpr auto doc = "fill_value in input's shape, dtype and (when dense) strides. RuntimeError where dtype does not hold it.";
  static constexpr Notation notation = "fill";
  static constexpr OutRule out{Out::none};
  Scalar fill_value;
  std::optional<DType> dtype;
  std::optional<Device> device;
  std::optional<MemoryFormat> memory_format;
  static constexpr Fields fields{&FullLike::fill_value, &FullLike::dtype, &FullLike::device, &FullLike::memory_format};
  Meta infer(Inputs in) const;
};

/// What the methods `new_...` share: dtype and device of the tensor they are called on, unless told otherwise.
struct New : Factory {
  static constexpr Module module = Module::method;
  static constexpr OutRule out{Out::none};
  Dims size;
  std::optional<DType> dtype;
  std::optional<Device> device;
  static constexpr Fields fields{&New::size, &New::dtype, &New::device};
  Meta infer(Inputs in) const;
};

struct NewEmpty : New {
  static constexpr Signature signature = "new_empty(input: Tensor, *size: int, dtype: dtype | None = None, device: device | None = None) -> Tensor";
  static constexpr auto doc = "An uninitialised tensor of input's dtype and device.";
};
struct NewEmptyStrided : Factory {
  static constexpr Signature signature = "new_empty_strided(input: Tensor, size: list[int], stride: list[int], *, dtype: dtype | None = None, "
                                         "device: device | None = None) -> Tensor";
  static constexpr auto doc = "An uninitialised tensor of the given strides, and of input's dtype and device.";
  static constexpr Module module = Module::method;
  static constexpr OutRule out{Out::none};
  Dims size, stride;
  std::optional<DType> dtype;
  std::optional<Device> device;
  static constexpr Fields fields{&NewEmptyStrided::size, &NewEmptyStrided::stride, &NewEmptyStrided::dtype, &NewEmptyStrided::device};
  Meta infer(Inputs in) const;
};
struct NewZeros : New {
  static constexpr Signature signature = "new_zeros(input: Tensor, *size: int, dtype: dtype | None = None, device: device | None = None) -> Tensor";
  static constexpr auto doc = "Zeros of input's dtype and device.";
  static constexpr Notation notation = "fill";
};
struct NewOnes : New {
  static constexpr Signature signature = "new_ones(input: Tensor, *size: int, dtype: dtype | None = None, device: device | None = None) -> Tensor";
  static constexpr auto doc = "Ones of input's dtype and device.";
  static constexpr Notation notation = "fill";
};
struct NewFull : Factory {
  static constexpr Signature signature = "new_full(input: Tensor, size: list[int], fill_value: Number, *, dtype: dtype | None = None, "
                                         "device: device | None = None) -> Tensor";
  static constexpr auto doc = "A tensor of one number, of input's dtype and device. RuntimeError where dtype does not hold it.";
  static constexpr Notation notation = "fill";
  static constexpr Module module = Module::method;
  static constexpr OutRule out{Out::none};
  Dims size;
  Scalar fill_value;
  std::optional<DType> dtype;
  std::optional<Device> device;
  static constexpr Fields fields{&NewFull::size, &NewFull::fill_value, &NewFull::dtype, &NewFull::device};
  Meta infer(Inputs in) const;
};

/// What fills a tensor of a single number is rounded to a half, even to infinity. Source: PyTorch, which writes one number by a way of its own.
void check_filled(const Scalar& number, const Dims& sizes, DType t);

using FactoryOps = OpList<Empty, EmptyStrided, EmptyPermuted, Zeros, Ones, Full, ScalarTensor, Eye, ArangeTo, Arange, Range, EmptyLike, ZerosLike,
                          OnesLike, FullLike, NewEmpty, NewEmptyStrided, NewZeros, NewOnes, NewFull>;

namespace fn {
inline constexpr Fn<Empty> empty;
inline constexpr Fn<Zeros> zeros;
inline constexpr Fn<Ones> ones;
inline constexpr Fn<Full> full;
inline constexpr Fn<ScalarTensor> scalar_tensor;
inline constexpr Fn<Eye> eye;
inline constexpr Fn<Arange> arange;
inline constexpr Fn<EmptyLike> empty_like;
inline constexpr Fn<ZerosLike> zeros_like;
inline constexpr Fn<OnesLike> ones_like;
inline constexpr Fn<FullLike> full_like;
}  // namespace fn

}  // namespace weir
