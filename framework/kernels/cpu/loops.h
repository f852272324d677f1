// Strided iteration for pointwise kernels.
//
// A kernel is a contiguous loop per compute type (float, double, int64, for some ops smaller integers and complex). The driver brings any
// dtype and any strides to it: operands that are contiguous in the compute type are passed as they are, others go
// through tiles that stay in the first-level cache. So a formula is not compiled once per dtype and layout.
#pragma once
#include <memory>
#include <span>
#include <unordered_map>

#include "framework/core/parallel.h"
#include "framework/core/tensor.h"
#include "framework/kernels/cpu/stages.h"

namespace weir {
namespace WEIR_ISA {

constexpr int kMaxOperands = 4;      // inputs and the output
constexpr size_t kMaxItem = 16;      // bytes of the largest element, complex128
constexpr int64_t kTile = 1024;      // elements; three tiles of float64 fill half of a 48 KiB L1

/// out[i] = f(in0[i], ...) for i < n; `fixed` has a bit per input that is one number for the whole loop.
using Loop = void (*)(const void* op, void* out, const void* const* in, uint32_t fixed, int64_t n);
/// The same of `lines` lines of n numbers, a vector at least, whose beginnings lie `apart` elements from each other, the output's first. What is fixed is
/// one number of each line.
using LineLoop = void (*)(const void* op, void* out, const void* const* in, uint32_t fixed, int64_t n, int64_t lines, const int64_t* apart);
struct Loops {
  Loop f32 = nullptr, f64 = nullptr, i64 = nullptr;
  Loop c64 = nullptr, c128 = nullptr;  // complex64 goes through c128 where it has no loop of its own
  // Where the low bits of the result need the low bits of the operands only: int32 and, for tensors of one type, the types below.
  Loop i32 = nullptr, i16 = nullptr, i8 = nullptr, u8 = nullptr;
  LineLoop bf16 = nullptr, f16 = nullptr;  // compute in float; what is fixed is a float of each line too
  LineLoop f32_lines = nullptr, f64_lines = nullptr;  // of short formulas, where a call for each line would take as long as the line
  const FormulaStages* f32_stages = nullptr;          // of short formulas too, and of common ones
};

/// The element-wise ops by their kernel slots, for those who run several at once. `computes` says what the op computes in.
struct PointwiseOp {
  Loops loops;
  DType (*computes)(const void* op, std::span<const Tensor> in, DType out);
};
std::unordered_map<const void*, PointwiseOp>& pointwise_ops();

/// `t`, broadcast to the shape of `like`, in the order of `like`'s memory and dense: elements begin to end of it go to `to`.
class InOrder {
 public:
  InOrder(const Tensor& t, const Tensor& like);
  ~InOrder();
  void run(int64_t begin, int64_t end, void* to) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Runs the loop of `compute`'s class over broadcast inputs. An undefined input is skipped (its pointer is null).
void run_pointwise(const char* name, const Loops& loops, DType compute, const void* op, std::span<const Tensor> in,
                   const Tensor& out);

/// `src`, broadcast to `dst`'s shape and cast to its type, written into it.
void run_copy(const Tensor& src, const Tensor& dst);

/// A copy of `t` in another dtype or strides, as `layout` says.
Tensor copied(const Tensor& t, const Meta& layout);
/// `t` itself when row-major, else a row-major copy.
Tensor row_major(const Tensor& t);

/// A double as the nearest value of T that float arithmetic would give (half types round once, from float).
template <class T> auto float_cast(double x) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) return float(x);
  else return x;
}

/// As visit_dtype, for kernels of real numbers: NotImplementedError for complex ones.
template <class F> void visit_real_dtype(const char* name, DType t, F&& f) {
  visit_dtype(t, [&](auto tag) {
    if constexpr (kIsComplex<typename decltype(tag)::type>)
      throw NotImplemented(str('"', name, "\" not implemented for '", name_of(t), "'"));
    else f(tag);
  });
}

/// n elements of `from` at `src` (stride in elements) to `to` at `dst`, cast as PyTorch casts.
void convert(DType from, const void* src, int64_t src_stride, DType to, void* dst, int64_t dst_stride, int64_t n);

}  // namespace WEIR_ISA
}  // namespace weir
