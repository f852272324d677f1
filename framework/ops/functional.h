// C++ operators over tensors and numbers, so that gradients read like formulas.
#pragma once
#include "framework/op/call.h"

namespace weir {

Tensor operator+(const Tensor& a, const Tensor& b);
Tensor operator-(const Tensor& a, const Tensor& b);
Tensor operator*(const Tensor& a, const Tensor& b);
Tensor operator/(const Tensor& a, const Tensor& b);
Tensor operator-(const Tensor& a);
/// The conjugate as a view; a real tensor itself.
Tensor conj(const Tensor& t);
Tensor operator>(const Tensor& a, const Tensor& b);
Tensor operator<(const Tensor& a, const Tensor& b);
Tensor operator>=(const Tensor& a, const Tensor& b);
Tensor operator<=(const Tensor& a, const Tensor& b);

inline Tensor num(double x) { return wrapped_number(Scalar(x)); }
inline Tensor num(int64_t x) { return wrapped_number(Scalar(x)); }
inline Tensor operator+(const Tensor& a, double b) { return a + num(b); }
inline Tensor operator-(const Tensor& a, double b) { return a - num(b); }
inline Tensor operator*(const Tensor& a, double b) { return a * num(b); }
inline Tensor operator/(const Tensor& a, double b) { return a / num(b); }
inline Tensor operator+(double a, const Tensor& b) { return num(a) + b; }
inline Tensor operator-(double a, const Tensor& b) { return num(a) - b; }
inline Tensor operator*(double a, const Tensor& b) { return b * num(a); }  // which beside halves keeps the digits of a
inline Tensor operator/(double a, const Tensor& b) { return num(a) / b; }
inline Tensor operator>(const Tensor& a, double b) { return a > num(b); }
inline Tensor operator<(const Tensor& a, double b) { return a < num(b); }
inline Tensor operator>=(const Tensor& a, double b) { return a >= num(b); }
inline Tensor operator<=(const Tensor& a, double b) { return a <= num(b); }

}  // namespace weir
