// Scalar: a Python number with its kind kept, because promotion depends on the kind.
#pragma once
#include <cmath>
#include <cstdint>
#include <ostream>

#include "framework/core/dtype.h"
#include "framework/core/error.h"

namespace weir {

struct Scalar {
  enum class Kind : uint8_t { boolean, integer, real, complex } kind = Kind::integer;
  union { int64_t i = 0; double d; };  // d: the real part of a complex number
  double imag = 0;
  bool large = false;  // a whole number from 2^63 on: real numbers take it, whole ones refuse it

  Scalar() = default;
  Scalar(bool b) : kind(Kind::boolean), i(b) {}
  Scalar(int x) : kind(Kind::integer), i(x) {}
  Scalar(int64_t x) : kind(Kind::integer), i(x) {}
  Scalar(double x) : kind(Kind::real), d(x) {}
  Scalar(std::complex<double> x) : kind(Kind::complex), d(x.real()), imag(x.imag()) {}

  bool is_real() const { return kind == Kind::real; }
  bool is_complex() const { return kind == Kind::complex; }
  bool is_whole() const { return kind <= Kind::integer; }
  bool is_zero() const { return is_whole() ? i == 0 : d == 0 && imag == 0; }
  /// RuntimeError for a number with an imaginary part, which no real number stands for.
  double to_double() const { return is_whole() ? double(i) : (check_no_imaginary("double"), d); }
  int64_t to_int() const { return is_whole() ? i : (check_no_imaginary("int64_t"), int64_t(d)); }
  std::complex<double> to_complex() const { return {is_whole() ? double(i) : d, imag}; }
  template <class T> T to() const {
    if constexpr (kIsComplex<T>) return T(to_complex());
    else return is_whole() ? T(i) : (check_no_imaginary("a real number"), T(d));
  }

  /// A whole number from 2^63 on, rounded to a real one.
  static Scalar of_large(uint64_t x) {
    Scalar s{double(x)};
    s.large = true;
    return s;
  }

  /// The dtype the number has by itself: bool, int64, the default float, or the complex type made of it.
  DType dtype(DType default_float = DType::float32) const {
    if (is_complex()) return complex_type(default_float);
    return kind == Kind::boolean ? DType::boolean : kind == Kind::integer || large ? DType::int64 : default_float;
  }

 private:
  // Source of the text: c10::Scalar's checked conversion.
  void check_no_imaginary(const char* type) const {
    check(imag == 0, "value cannot be converted to type ", type, " without overflow");
  }
};

/// RuntimeError unless `s` is a number of `t`: integers take what is in their range (a negative number wraps in an unsigned
/// type, as in PyTorch) and no NaN; floating types take all real numbers, but those of eight bits none beyond their largest.
inline void check_fits(const Scalar& s, DType t) {
  auto refuse = [&](bool ok) { check(ok, "value cannot be converted to type ", name_of(t), " without overflow"); };
  refuse(!s.is_complex() || s.imag == 0 || is_complex(t));
  if (is_float8(t) && t != DType::float8_e8m0fnu && !s.is_complex()) {
    const double size = std::abs(s.to_double());
    const double most = t == DType::float8_e4m3fn ? 448 : t == DType::float8_e4m3fnuz ? 240 : 57344;
    refuse(!(size > most) || (std::isinf(size) && t == DType::float8_e5m2));
  }
  if (t == DType::boolean || !is_integral(t) || s.is_complex()) return;
  int bits = int(size_of(t)) * 8;
  bool is_signed = !is_unsigned(t);
  double end = std::ldexp(1.0, is_signed ? bits - 1 : bits);
  if (!s.is_whole()) return refuse(s.d >= (is_signed ? -end : 0.0) && s.d <= (bits < 64 ? end - 1 : end));  // no fraction lies beyond the ends
  if (bits < 64) refuse(s.i < int64_t(end) && (is_signed ? s.i >= -int64_t(end) : s.i > -int64_t(end)));
}

inline std::ostream& operator<<(std::ostream& out, const Scalar& s) {
  if (s.is_complex()) return out << '(' << s.d << (s.imag < 0 ? "" : "+") << s.imag << "j)";
  return s.is_real() ? out << s.d : out << s.i;
}

}  // namespace weir
