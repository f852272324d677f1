// Scalar: a Python number with its kind kept, because promotion depends on the kind.
#pragma once
#include <cstdint>
#include <ostream>

#include "framework/core/dtype.h"

namespace weir {

struct Scalar {
  enum class Kind : uint8_t { boolean, integer, real } kind = Kind::integer;
  union { int64_t i = 0; double d; };

  Scalar() = default;
  Scalar(bool b) : kind(Kind::boolean), i(b) {}
  Scalar(int x) : kind(Kind::integer), i(x) {}
  Scalar(int64_t x) : kind(Kind::integer), i(x) {}
  Scalar(double x) : kind(Kind::real), d(x) {}

  bool is_real() const { return kind == Kind::real; }
  double to_double() const { return is_real() ? d : double(i); }
  int64_t to_int() const { return is_real() ? int64_t(d) : i; }
  template <class T> T to() const { return is_real() ? T(d) : T(i); }

  /// The dtype the number has by itself: bool, int64, or the default float.
  DType dtype(DType default_float = DType::float32) const {
    return kind == Kind::boolean ? DType::boolean : kind == Kind::integer ? DType::int64 : default_float;
  }
};

inline std::ostream& operator<<(std::ostream& out, const Scalar& s) {
  return s.is_real() ? out << s.d : out << s.i;
}

}  // namespace weir
