// Element types, their categories and PyTorch's promotion lattice.
#pragma once
#include <bit>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace weir {

// The order is the promotion order within a category; promote_types relies on it.
enum class DType : uint8_t {
  boolean, uint8, int8, int16, int32, int64, uint16, uint32, uint64,
  float8_e5m2, float8_e4m3fn, float8_e5m2fnuz, float8_e4m3fnuz, float8_e8m0fnu, float16, bfloat16, float32, float64,
  complex32, complex64, complex128
};
constexpr int kNumDTypes = 21;

using Half = _Float16;

struct BFloat16 {
  uint16_t bits;
  BFloat16() = default;
  BFloat16(float f) {  // round to nearest even; NaN stays NaN
    uint32_t u = std::bit_cast<uint32_t>(f);
    bits = f != f ? 0x7fc0 : uint16_t((u + 0x7fff + ((u >> 16) & 1)) >> 16);
  }
  operator float() const { return std::bit_cast<float>(uint32_t(bits) << 16); }
};

// Not within the functions: a table of theirs would be copied to the stack by every call.
inline constexpr uint8_t kDTypeSizes[] = {1, 1, 1, 2, 4, 8, 2, 4, 8, 1, 1, 1, 1, 1, 2, 2, 4, 8, 4, 8, 16};
inline constexpr std::string_view kDTypeNames[] = {
    "bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64",
    "float8_e5m2", "float8_e4m3fn", "float8_e5m2fnuz", "float8_e4m3fnuz", "float8_e8m0fnu", "float16", "bfloat16", "float32", "float64",
    "complex32", "complex64", "complex128"};
constexpr size_t size_of(DType t) { return kDTypeSizes[int(t)]; }
constexpr std::string_view name_of(DType t) { return kDTypeNames[int(t)]; }
constexpr bool is_float8(DType t) { return t >= DType::float8_e5m2 && t <= DType::float8_e8m0fnu; }
/// uint16, uint32 and uint64, which promote to no other integers.
constexpr bool is_wide_unsigned(DType t) { return t >= DType::uint16 && t <= DType::uint64; }
constexpr bool is_unsigned(DType t) { return t == DType::uint8 || is_wide_unsigned(t); }
/// Dtypes that tensors hold but no kernel computes in: op/carried.h brings them to kernels of other types.
constexpr bool is_storage_only(DType t) { return is_wide_unsigned(t) || is_float8(t) || t == DType::complex32; }
/// Real floating-point types; complex ones are a category of their own.
constexpr bool is_floating(DType t) { return t >= DType::float8_e5m2 && t <= DType::float64; }
constexpr bool is_complex(DType t) { return t >= DType::complex32; }
/// Numbers with fractions: what gradients exist of.
constexpr bool is_inexact(DType t) { return t >= DType::float8_e5m2; }
constexpr bool is_integral(DType t) { return t > DType::boolean && t < DType::float8_e5m2; }
/// The dtype of a complex number's parts, and the complex dtype whose parts hold numbers of `t`.
constexpr DType real_type(DType t) {
  if (t == DType::complex32) return DType::float16;
  return t == DType::complex128 ? DType::float64 : t == DType::complex64 ? DType::float32 : t;
}
/// RuntimeErrors for what has no complex type, or no common type.
[[noreturn]] void no_complex_type(DType t);
[[noreturn]] void no_common_type(DType a, DType b);
constexpr DType complex_type(DType t) {
  if (is_float8(t)) no_complex_type(t);
  if (t == DType::float16 || t == DType::complex32) return DType::complex32;
  return t == DType::float64 || t == DType::complex128 ? DType::complex128 : DType::complex64;
}
/// The distance from 1 to the next number.
constexpr double epsilon_of(DType t) {
  t = real_type(t);
  return 1 / (t == DType::float64 ? 4503599627370496.0 : t == DType::float32 ? 8388608.0 : t == DType::float16 ? 1024.0
              : 128.0);
}
constexpr bool is_reduced(DType t) { return t == DType::float16 || t == DType::bfloat16; }

/// The smallest type both convert to, as torch.promote_types; RuntimeError where PyTorch has none.
constexpr DType promote_types(DType a, DType b) {
  if (a == b) return a;
  if (a > b) { DType t = a; a = b; b = t; }
  if (a == DType::uint8 && b == DType::int8) return DType::int16;
  if (is_float8(a) || is_float8(b) || is_wide_unsigned(b) || (is_wide_unsigned(a) && is_complex(b))) no_common_type(a, b);
  if (a == DType::float16 && b == DType::bfloat16) return DType::float32;
  if (is_floating(a) && is_complex(b) && complex_type(a) > b) return complex_type(a);
  return b;
}

/// Whether a result of type `from` may be written into a tensor of type `to` (category may not fall).
constexpr bool can_cast(DType from, DType to) {
  if (is_inexact(from)) return is_complex(from) ? is_complex(to) : is_inexact(to);
  return from == DType::boolean || to != DType::boolean;
}

/// The C++ type behind a DType, and back.
template <class T> struct TypeTag { using type = T; };
template <class T> constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, bool>) return DType::boolean;
  else if constexpr (std::is_same_v<T, uint8_t>) return DType::uint8;
  else if constexpr (std::is_same_v<T, int8_t>) return DType::int8;
  else if constexpr (std::is_same_v<T, int16_t>) return DType::int16;
  else if constexpr (std::is_same_v<T, int32_t>) return DType::int32;
  else if constexpr (std::is_same_v<T, int64_t>) return DType::int64;
  else if constexpr (std::is_same_v<T, Half>) return DType::float16;
  else if constexpr (std::is_same_v<T, BFloat16>) return DType::bfloat16;
  else if constexpr (std::is_same_v<T, float>) return DType::float32;
  else if constexpr (std::is_same_v<T, double>) return DType::float64;
  else if constexpr (std::is_same_v<T, std::complex<float>>) return DType::complex64;
  else return DType::complex128;
}

[[noreturn]] void no_kernel_computes(DType t);
/// Calls `f(TypeTag<T>{})` with the element type of `t`, one of the twelve that kernels compute in: NotImplementedError for others.
template <class F> decltype(auto) visit_dtype(DType t, F&& f) {
  switch (t) {
    case DType::boolean: return f(TypeTag<bool>{});
    case DType::uint8: return f(TypeTag<uint8_t>{});
    case DType::int8: return f(TypeTag<int8_t>{});
    case DType::int16: return f(TypeTag<int16_t>{});
    case DType::int32: return f(TypeTag<int32_t>{});
    case DType::int64: return f(TypeTag<int64_t>{});
    case DType::float16: return f(TypeTag<Half>{});
    case DType::bfloat16: return f(TypeTag<BFloat16>{});
    case DType::float32: return f(TypeTag<float>{});
    case DType::float64: return f(TypeTag<double>{});
    case DType::complex64: return f(TypeTag<std::complex<float>>{});
    case DType::complex128: return f(TypeTag<std::complex<double>>{});
    default: no_kernel_computes(t);
  }
}
/// Is T one of the two complex element types?
template <class T> constexpr bool kIsComplex = false;
template <class R> constexpr bool kIsComplex<std::complex<R>> = true;
template <class T> bool is_nonzero(T x) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) return float(x) != 0;
  else return x != T(0);
}

}  // namespace weir
