// The element types behind dtypes that are only stored: eight-bit floats and half complex numbers, as conversions to and from
// the type that kernels compute in. Source of the formats: https://arxiv.org/abs/2209.05433, https://arxiv.org/abs/2206.02915 (fnuz)
// and the OCP Microscaling specification (e8m0).
#pragma once
#include <algorithm>
#include <cmath>

#include "framework/core/dtype.h"

namespace weir {

/// A sign, an exponent and `mantissa` bits. What is too large becomes infinite, the largest number or NaN.
struct Float8Format {
  int mantissa, bias, largest;  // largest: the code of the largest number
  enum class Beyond { infinite, saturated, nan } beyond;
  uint8_t nan;                  // the code of NaN; 0x80 where there is no negative zero
};
constexpr Float8Format format_of(DType t) {
  using B = Float8Format::Beyond;
  return t == DType::float8_e5m2       ? Float8Format{2, 15, 0x7b, B::infinite, 0x7f}
         : t == DType::float8_e4m3fn   ? Float8Format{3, 7, 0x7e, B::saturated, 0x7f}
         : t == DType::float8_e5m2fnuz ? Float8Format{2, 16, 0x7f, B::nan, 0x80}
                                       : Float8Format{3, 8, 0x7f, B::nan, 0x80};
}

constexpr float power_of_two(int exponent) { return std::bit_cast<float>(uint32_t(exponent + 127) << 23); }

template <DType kType> struct Float8 {
  uint8_t bits;
  Float8() = default;
  /// Rounds to nearest, ties to even.
  Float8(float x) {
    constexpr Float8Format f = format_of(kType);
    const uint8_t sign = std::signbit(x) ? 0x80 : 0;
    const float size = std::fabs(x);
    if (x != x) {
      bits = f.nan == 0x80 ? f.nan : sign | f.nan;
      return;
    }
    int code;
    if (size < power_of_two(1 - f.bias)) {  // a multiple of the smallest number
      code = int(std::nearbyint(size * power_of_two(f.mantissa + f.bias - 1)));
    } else {
      const uint32_t u = std::bit_cast<uint32_t>(size) - (uint32_t(127 - f.bias) << 23);
      const int cut = 23 - f.mantissa;
      code = int(std::min((u + (1u << (cut - 1)) - 1 + (u >> cut & 1)) >> cut, 0x100u));
    }
    if (code > f.largest) {
      if (f.beyond == Float8Format::Beyond::nan) {
        bits = f.nan;
        return;
      }
      code = f.beyond == Float8Format::Beyond::infinite ? f.largest + 1 : f.largest;
    }
    bits = code == 0 && f.nan == 0x80 ? 0 : uint8_t(sign | code);
  }
  operator float() const {
    constexpr Float8Format f = format_of(kType);
    const int code = bits & 0x7f, exponent = code >> f.mantissa;
    const bool nan = f.nan == 0x80 ? bits == 0x80 : code == f.nan || (f.beyond == Float8Format::Beyond::infinite && code > f.largest + 1);
    if (nan) return std::bit_cast<float>(uint32_t(bits & 0x80) << 24 | 0x7fc00000u);
    float size;
    if (exponent == 0) size = float(code) * power_of_two(1 - f.bias - f.mantissa);
    else if (f.beyond == Float8Format::Beyond::infinite && code > f.largest) size = INFINITY;
    else size = std::bit_cast<float>((uint32_t(code) << (23 - f.mantissa)) + (uint32_t(127 - f.bias) << 23));
    return bits & 0x80 ? -size : size;
  }
};

/// A power of two, without a sign: 2^(bits - 127), and NaN.
template <> struct Float8<DType::float8_e8m0fnu> {
  uint8_t bits;
  Float8() = default;
  /// Rounds to nearest, ties to even codes; the sign is dropped.
  Float8(float x) {
    const uint32_t u = std::bit_cast<uint32_t>(x) & 0x7fffffffu;
    const uint32_t exponent = u >> 23, rest = u & 0x7fffffu;
    bits = uint8_t(exponent);
    if (exponent == 0xff) return;
    // Of subnormal numbers the first bit of the rest is the one that rounds, and 2^-127 is the least there is.
    const bool half = rest & 0x400000u, more = rest & 0x3fffffu;
    if (half && (exponent > 0 || more)) bits++;
  }
  operator float() const {
    if (bits == 0) return power_of_two(-126) / 2;
    return std::bit_cast<float>(bits == 0xff ? 0x7fc00000u : uint32_t(bits) << 23);
  }
};

struct ComplexHalf {
  Half re, im;
  ComplexHalf() = default;
  ComplexHalf(std::complex<float> z) : re(Half(z.real())), im(Half(z.imag())) {}
  operator std::complex<float>() const { return {float(re), float(im)}; }
};

/// As visit_dtype, for dtypes that are only stored too.
template <class F> decltype(auto) visit_any_dtype(DType t, F&& f) {
  switch (t) {
    case DType::uint16: return f(TypeTag<uint16_t>{});
    case DType::uint32: return f(TypeTag<uint32_t>{});
    case DType::uint64: return f(TypeTag<uint64_t>{});
    case DType::float8_e5m2: return f(TypeTag<Float8<DType::float8_e5m2>>{});
    case DType::float8_e4m3fn: return f(TypeTag<Float8<DType::float8_e4m3fn>>{});
    case DType::float8_e5m2fnuz: return f(TypeTag<Float8<DType::float8_e5m2fnuz>>{});
    case DType::float8_e4m3fnuz: return f(TypeTag<Float8<DType::float8_e4m3fnuz>>{});
    case DType::float8_e8m0fnu: return f(TypeTag<Float8<DType::float8_e8m0fnu>>{});
    case DType::complex32: return f(TypeTag<ComplexHalf>{});
    default: return visit_dtype(t, f);
  }
}

/// The type that computes for T: it holds every number of T.
template <class T> struct Carrier { using type = T; };
template <> struct Carrier<uint16_t> { using type = int32_t; };
template <> struct Carrier<uint32_t> { using type = int64_t; };
template <DType t> struct Carrier<Float8<t>> { using type = float; };
template <> struct Carrier<ComplexHalf> { using type = std::complex<float>; };

}  // namespace weir
