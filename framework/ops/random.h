// Random numbers. The default generator is a mt19937 with PyTorch's draws.
#pragma once
#include "framework/ops/factory.h"

namespace weir {

struct Uniform : Op {
  static constexpr Signature signature =
      "uniform(input: Tensor, from: float = 0.0, to: float = 1.0, *, generator: Generator | None = None) -> Tensor";
  static constexpr auto doc = "Uniform numbers in [from, to), in input's shape and dtype.";
  static constexpr Notation notation = "fill";
  static constexpr Module module = Module::method;
  static constexpr InplaceRule inplace{.offered = true};
  static constexpr GradientRule gradient{.exists = false};
  static constexpr Layouts layouts = Layouts::any;
  double from, to;
  Generator* generator;
  static constexpr Fields fields{&Uniform::from, &Uniform::to, &Uniform::generator};
  Meta infer(Inputs in) const;
};

struct Normal : Op {
  static constexpr Signature signature =
      "normal_fill(input: Tensor, mean: float = 0.0, std: float = 1.0, *, generator: Generator | None = None) -> Tensor";
  static constexpr auto doc = "Normal numbers, in input's shape and dtype.";
  static constexpr Notation notation = "fill";
  static constexpr Module module = Module::method;
  static constexpr InplaceRule inplace{.offered = true};
  static constexpr GradientRule gradient{.exists = false};
  static constexpr Layouts layouts = Layouts::any;
  double mean, std;
  Generator* generator;
  static constexpr Fields fields{&Normal::mean, &Normal::std, &Normal::generator};
  Meta infer(Inputs in) const;
};

struct RandomInt : Op {
  static constexpr Signature signature =
      "random_range(input: Tensor, low: int | None, high: int | None, *, generator: Generator | None = None) -> Tensor";
  static constexpr auto doc =
      "Integers in [low, high), in input's shape and dtype: from 0, and up to the largest of the dtype, where a bound is None.";
  static constexpr Notation notation = "fill";
  static constexpr Module module = Module::method;
  static constexpr InplaceRule inplace{.offered = true};
  static constexpr GradientRule gradient{.exists = false};
  static constexpr Layouts layouts = Layouts::any;
  std::optional<int64_t> low, high;
  Generator* generator;
  static constexpr Fields fields{&RandomInt::low, &RandomInt::high, &RandomInt::generator};
  Meta infer(Inputs in) const;
};

struct Bernoulli : Op {
  static constexpr Signature signature = "bernoulli(input: Tensor, *, generator: Generator | None = None) -> Tensor";
  static constexpr auto doc = "1 with the probability input gives for each element, else 0.";
  static constexpr Notation notation = "elements";
  static constexpr OutRule out{Out::cast};
  Generator* generator;
  static constexpr Fields fields{&Bernoulli::generator};
  Meta infer(Inputs in) const;
  void take_out(Inputs in, const Tensor& out) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct BernoulliOf : Op {
  static constexpr Signature signature = "bernoulli.p(input: Tensor, p: float, *, generator: Generator | None = None) -> Tensor";
  static constexpr auto doc = "1 with probability p, else 0, in input's shape and dtype. It has no derivative, as in PyTorch.";
  static constexpr Notation notation = "elements";
  static constexpr OutRule out{Out::none};
  double p;
  Generator* generator;
  static constexpr Fields fields{&BernoulliOf::p, &BernoulliOf::generator};
  Meta infer(Inputs in) const;
};

struct BernoulliFill : Op {
  static constexpr Signature signature = "bernoulli_fill(input: Tensor, p: float, *, generator: Generator | None = None) -> Tensor";
  static constexpr auto doc = "1 with probability p, else 0, in input's shape and dtype.";
  static constexpr Notation notation = "fill";
  static constexpr Module module = Module::method;
  static constexpr InplaceRule inplace{.offered = true};
  static constexpr GradientRule gradient{.exists = false};
  static constexpr Layouts layouts = Layouts::any;
  double p;
  Generator* generator;
  static constexpr Fields fields{&BernoulliFill::p, &BernoulliFill::generator};
  Meta infer(Inputs in) const;
};

struct DrawnFill : Op {
  static constexpr Signature signature =
      "drawn_fill(input: Tensor, distribution: str, a: float, b: float = 0.0, *, generator: Generator | None = None) -> Tensor";
  static constexpr auto doc =
      "Numbers of a distribution in input's shape and dtype: 'exponential' (rate a), 'geometric' (probability a), 'cauchy' (median a, "
      "scale b) or 'log_normal' (mean a and standard deviation b of the logarithm).";
  static constexpr Notation notation = "fill";
  static constexpr Module module = Module::method;
  static constexpr InplaceRule inplace{.offered = true};
  static constexpr GradientRule gradient{.exists = false};
  static constexpr Layouts layouts = Layouts::any;
  Str distribution;
  double a, b;
  Generator* generator;
  static constexpr Fields fields{&DrawnFill::distribution, &DrawnFill::a, &DrawnFill::b, &DrawnFill::generator};
  Meta infer(Inputs in) const;
};

struct RReluNoise : Op {
  static constexpr Signature signature =
      "rrelu_noise(input: Tensor, lower: float, upper: float, generator: Generator | None = None) -> Tensor";
  static constexpr auto doc = "A slope drawn from [lower, upper) where input is not above 0, and 1 elsewhere. Source: PyTorch's rrelu.";
  static constexpr Notation notation = "elements";
  static constexpr Module module = Module::hidden;
  static constexpr GradientRule gradient{.exists = false};
  double lower, upper;
  Generator* generator;
  static constexpr Fields fields{&RReluNoise::lower, &RReluNoise::upper, &RReluNoise::generator};
  Meta infer(Inputs in) const;
};

struct RandPerm : Op {
  static constexpr Signature signature = "randperm_of(n: int | Tensor, generator: Generator | None = None) -> Tensor";
  static constexpr auto doc = "A random permutation of 0 .. n - 1, int64.";
  static constexpr Notation notation = "fill";
  static constexpr Module module = Module::hidden;
  int64_t n;
  Generator* generator;
  static constexpr Fields fields{&RandPerm::n, &RandPerm::generator};
  Meta infer(Inputs in) const;
};

struct DropoutWithMask : Op {
  static constexpr Signature signature = "dropout_with_mask(input: Tensor, p: float) -> (output: Tensor, mask: Tensor)";
  static constexpr auto doc = "input / (1 - p) where the bool mask holds, 0 elsewhere; the mask is drawn.";
  static constexpr Notation notation = "elements";
  static constexpr Module module = Module::hidden;
  static constexpr Save saves{.outputs = 0b10};
  double p;
  static constexpr Fields fields{&DropoutWithMask::p};
  std::array<Meta, 2> infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct MaskScale : Op {
  static constexpr Signature signature = "mask_scale(input: Tensor, mask: Tensor, keep: float) -> Tensor";
  static constexpr auto doc = "input / keep where mask holds, 0 elsewhere: dropout's gradient.";
  static constexpr Notation notation = "elements";
  static constexpr Module module = Module::hidden;
  static constexpr Save saves{.inputs = 0b10};
  double keep;
  static constexpr Fields fields{&MaskScale::keep};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct Dropout : Op {
  static constexpr Signature signature = "dropout(input: Tensor, p: float, train: bool) -> Tensor";
  static constexpr auto doc = "Elements zeroed with probability p, the others scaled by 1 / (1 - p). Source: Hinton et al. 2012.";
  static constexpr Module module = Module::function;
  static constexpr OutRule out{Out::none};
  static constexpr InplaceRule inplace{.offered = true};
  double p;
  bool train;
  static constexpr Fields fields{&Dropout::p, &Dropout::train};
  Tensor compose(Inputs in) const;
};

/// What `rand` and `randn` share: numbers drawn row by row.
struct DrawnFactory : Factory {
  Dims size;
  Generator* generator;
  std::optional<DType> dtype;
  std::optional<Device> device;
  static constexpr Fields fields{&DrawnFactory::size, &DrawnFactory::generator, &DrawnFactory::dtype, &DrawnFactory::device};
};

struct Rand : DrawnFactory {
  static constexpr Signature signature =
      "rand(*size: int, generator: Generator | None = None, dtype: dtype | None = None, device: device | None = None) -> Tensor";
  static constexpr auto doc = "Uniform numbers in [0, 1). Shape: size.";
  Tensor compose(Inputs in) const;
};

struct Randn : DrawnFactory {
  static constexpr Signature signature =
      "randn(*size: int, generator: Generator | None = None, dtype: dtype | None = None, device: device | None = None) -> Tensor";
  static constexpr auto doc = "Standard normal numbers. Shape: size.";
  Tensor compose(Inputs in) const;
};

struct NormalSized : Factory {
  static constexpr Signature signature = "normal.float_float(mean: float, std: float, size: list[int], *, generator: Generator | None = None, "
                                         "dtype: dtype | None = None, device: device | None = None) -> Tensor";
  static constexpr auto doc = "Normal numbers of one mean and standard deviation. Shape: size.";
  double mean, std;
  Dims size;
  Generator* generator;
  std::optional<DType> dtype;
  std::optional<Device> device;
  static constexpr Fields fields{&NormalSized::mean, &NormalSized::std, &NormalSized::size, &NormalSized::generator, &NormalSized::dtype, &NormalSized::device};
  Tensor compose(Inputs in) const;
};

struct NormalAround : Op {
  static constexpr Signature signature = "normal(mean: Tensor | Number, std: Tensor | Number = 1.0, *, generator: Generator | None = None) -> Tensor";
  static constexpr auto doc = "Normal numbers of each mean and standard deviation, which broadcast. RuntimeError for a negative standard deviation.";
  static constexpr GradientRule gradient{.of_complex = false};
  static constexpr Autocast autocast = Autocast::opaque;
  Generator* generator;
  std::optional<Meta> into;  // an out=, in whose dtype is computed, and which has a say in the shape beside a number for std
  static constexpr Fields fields{&NormalAround::generator};
  void take_out(Inputs in, const Tensor& out);
  Tensor compose(Inputs in) const;
};

struct DrawnAround : Op {
  static constexpr Signature signature = "drawn_around(input: Tensor, mean: Tensor | None, std: Tensor | None) -> Tensor";
  static constexpr auto doc = "input, drawn around mean by std, with a history: what is drawn is no function of them, and so their gradients are zeros. "
                              "Source: PyTorch's derivatives.yaml.";
  static constexpr Module module = Module::hidden;
  static constexpr InplaceRule inplace{.offered = true};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct RandInt : Factory {
  static constexpr Signature signature = "randint(high: int, size: list[int], *, generator: Generator | None = None, "
                                         "dtype: dtype | None = None, device: device | None = None) -> Tensor";
  static constexpr auto doc = "Integers in [0, high), int64 unless dtype says otherwise. Shape: size.";
  int64_t high;
  Dims size;
  Generator* generator;
  std::optional<DType> dtype;
  std::optional<Device> device;
  static constexpr Fields fields{&RandInt::high, &RandInt::size, &RandInt::generator, &RandInt::dtype, &RandInt::device};
  Tensor compose(Inputs in) const;
};

struct RandIntFrom : Factory {
  static constexpr Signature signature = "randint.low(low: int, high: int, size: list[int], *, "
                                         "generator: Generator | None = None, dtype: dtype | None = None, device: device | None = None) -> Tensor";
  static constexpr auto doc = "Integers in [low, high), int64 unless dtype says otherwise. Shape: size.";
  int64_t low, high;
  Dims size;
  Generator* generator;
  std::optional<DType> dtype;
  std::optional<Device> device;
  static constexpr Fields fields{&RandIntFrom::low, &RandIntFrom::high, &RandIntFrom::size, &RandIntFrom::generator, &RandIntFrom::dtype, &RandIntFrom::device};
  Tensor compose(Inputs in) const;
};

struct Permutation : Factory {
  static constexpr Signature signature = "randperm(n: int | Tensor, *, generator: Generator | None = None, dtype: dtype | None = None, "
                                         "device: device | None = None) -> Tensor";
  static constexpr auto doc = "A random permutation of 0 .. n - 1, int64 unless dtype says otherwise. Shape: (n,).";
  int64_t n;
  Generator* generator;
  std::optional<DType> dtype;
  std::optional<Device> device;
  static constexpr Fields fields{&Permutation::n, &Permutation::generator, &Permutation::dtype, &Permutation::device};
  Tensor compose(Inputs in) const;
};

/// What `rand_like` and `randn_like` share: numbers drawn in the order of the new tensor's memory.
struct DrawnLike : Factory {
  static constexpr OutRule out{Out::none};
  Generator* generator;
  std::optional<DType> dtype;
  std::optional<Device> device;
  std::optional<MemoryFormat> memory_format;
  static constexpr Fields fields{&DrawnLike::generator, &DrawnLike::dtype, &DrawnLike::device, &DrawnLike::memory_format};
};

struct RandLike : DrawnLike {
  static constexpr Signature signature = "rand_like(input: Tensor, *, generator: Generator | None = None, dtype: dtype | None = None, "
                                         "device: device | None = None, memory_format: memory_format | None = None) -> Tensor";
  static constexpr auto doc = "Uniform numbers in [0, 1), in input's shape, dtype and (when dense) strides.";
  Tensor compose(Inputs in) const;
};

struct RandnLike : DrawnLike {
  static constexpr Signature signature = "randn_like(input: Tensor, *, generator: Generator | None = None, dtype: dtype | None = None, "
                                         "device: device | None = None, memory_format: memory_format | None = None) -> Tensor";
  static constexpr auto doc = "Standard normal numbers, in input's shape, dtype and (when dense) strides.";
  Tensor compose(Inputs in) const;
};

struct RandIntLike : Factory {
  static constexpr Signature signature = "randint_like(input: Tensor, high: int, *, generator: Generator | None = None, dtype: dtype | None = None, "
                                         "device: device | None = None, memory_format: memory_format | None = None) -> Tensor";
  static constexpr auto doc = "Integers in [0, high), in input's shape, dtype and (when dense) strides.";
  static constexpr OutRule out{Out::none};
  int64_t high;
  Generator* generator;
  std::optional<DType> dtype;
  std::optional<Device> device;
  std::optional<MemoryFormat> memory_format;
  static constexpr Fields fields{&RandIntLike::high, &RandIntLike::generator, &RandIntLike::dtype, &RandIntLike::device, &RandIntLike::memory_format};
  Tensor compose(Inputs in) const;
};

struct RandIntLikeTensor : DrawnLike {
  static constexpr Signature signature = "randint_like.Tensor(input: Tensor, high: Tensor, *, generator: Generator | None = None, dtype: dtype | None = None, "
                                         "device: device | None = None, memory_format: memory_format | None = None) -> Tensor";
  static constexpr auto doc = "Integers in [0, high), in input's shape, dtype and (when dense) strides. high has no axes; its fraction is cut off.";
  Tensor compose(Inputs in) const;
};

struct RandIntLikeFrom : Factory {
  static constexpr Signature signature = "randint_like.low(input: Tensor, low: int, high: int, *, generator: Generator | None = None, "
                                         "dtype: dtype | None = None, device: device | None = None, memory_format: memory_format | None = None) -> Tensor";
  static constexpr auto doc = "Integers in [low, high), in input's shape, dtype and (when dense) strides.";
  static constexpr OutRule out{Out::none};
  int64_t low, high;
  Generator* generator;
  std::optional<DType> dtype;
  std::optional<Device> device;
  std::optional<MemoryFormat> memory_format;
  static constexpr Fields fields{&RandIntLikeFrom::low, &RandIntLikeFrom::high, &RandIntLikeFrom::generator, &RandIntLikeFrom::dtype, &RandIntLikeFrom::device,
                                     &RandIntLikeFrom::memory_format};
  Tensor compose(Inputs in) const;
};

using RandomOps = OpList<Uniform, Normal, DrawnAround, RandomInt, Bernoulli, BernoulliOf, BernoulliFill, DrawnFill, RReluNoise, RandPerm, DropoutWithMask, MaskScale, Dropout, Rand, Randn, NormalAround, NormalSized,
                         RandInt, RandIntFrom, Permutation, RandLike, RandnLike, RandIntLikeTensor, RandIntLike,
                         RandIntLikeFrom>;

namespace fn {
inline constexpr Fn<Uniform> uniform;
inline constexpr Fn<DrawnAround> drawn_around;
inline constexpr Fn<Normal> normal_fill;
inline constexpr Fn<RandomInt> random_range;
inline constexpr Fn<Bernoulli> bernoulli;
inline constexpr Fn<BernoulliFill> bernoulli_fill;
inline constexpr Fn<DrawnFill> drawn_fill;
inline constexpr Fn<RReluNoise> rrelu_noise;
inline constexpr Fn<RandPerm> randperm_of;
inline constexpr Fn<DropoutWithMask> dropout_with_mask;
inline constexpr Fn<MaskScale> mask_scale;
inline constexpr Fn<Dropout> dropout;
}  // namespace fn

}  // namespace weir
