// What kernels/formulas.h finds around it on the GPU, where `T` is one number.
//
// NVRTC compiles: this text, one plain struct per op with the members of its signature, formulas.h, and a kernel.
// Options: --std=c++20 -default-device (formulas carry no __device__). No header of the C++ library is needed.
// Scalar, Str and optional hold what core/scalar.h, op/signature.h and std::optional do, as aggregates: a text spells an op's struct with braces.
#pragma once

#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#endif
#ifndef NAN
#define NAN __int_as_float(0x7fffffff)
#endif

using int64_t = long long;
using uint64_t = unsigned long long;
using uint8_t = unsigned char;

namespace std {

using ::copysign, ::erf, ::erfc, ::exp, ::fabs, ::floor, ::fmod, ::lgamma, ::log, ::log1p, ::nearbyint, ::pow, ::sin, ::sqrt, ::tan;

template <class T> struct optional {
  T value;
  bool engaged;
  explicit operator bool() const { return engaged; }
  const T& operator*() const { return value; }
};

}  // namespace std

namespace weir {

struct Scalar {
  enum class Kind : uint8_t { boolean, integer, real, complex } kind;
  union { int64_t i; double d; };
  double imag = 0;
  template <class T> T to() const { return kind <= Kind::integer ? T(i) : T(d); }
};
struct Str { char v[32]; };

// Stored in half precision, computed in float: rounded to the nearest where it is made.
struct BFloat16 {
  unsigned short bits;
  BFloat16() = default;
  explicit BFloat16(float x) { asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(x)); }
  operator float() const { return __uint_as_float(unsigned(bits) << 16); }
};
struct Half {
  unsigned short bits;
  Half() = default;
  explicit Half(float x) { asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x)); }
  operator float() const {
    float x;
    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
    return x;
  }
};

inline int64_t lesser(int64_t a, int64_t b) { return a < b ? a : b; }

/// Neighbours in memory that one thread moves at once, by the widest loads that their place allows: a narrow load for each would leave
/// a GPU's memory waiting.
template <class T, int n> struct alignas(sizeof(T) * n) Pack { T v[n]; };
template <class T, int n> bool is_whole(const T* at, int64_t first, int64_t count) {
  return first + n <= count && reinterpret_cast<uint64_t>(at) % sizeof(Pack<T, n>) == 0;
}
/// Elements [first, first + n) of `count`; those beyond the last are the last.
template <int n, class T> Pack<T, n> load(const T* from, int64_t first, int64_t count) {
  if (is_whole<T, n>(from + first, first, count)) return *reinterpret_cast<const Pack<T, n>*>(from + first);
  Pack<T, n> r;
  for (int k = 0; k < n; k++) r.v[k] = from[first + k < count ? first + k : count - 1];
  return r;
}
template <class T, int n> void store(T* to, const Pack<T, n>& x, int64_t first, int64_t count) {
  if (is_whole<T, n>(to + first, first, count)) *reinterpret_cast<Pack<T, n>*>(to + first) = x;
  else for (int k = 0; k < n && first + k < count; k++) to[first + k] = x.v[k];
}

template <class T> struct Limits;
template <> struct Limits<float> {
  static constexpr float max = 3.402823466e+38f;
  static float infinity() { return INFINITY; }
};
template <> struct Limits<double> {
  static constexpr double max = 1.7976931348623157e+308;
  static double infinity() { return INFINITY; }
};
template <> struct Limits<int64_t> {
  static constexpr int64_t max = 0x7fffffffffffffff;
  static int64_t infinity() { return max; }  // beside which no other number is
};

template <class T> T where(bool mask, T a, T b) { return mask ? a : b; }
template <class T> T scalar(T, const Scalar& s) { return s.to<T>(); }
template <class T> T largest(T) { return Limits<T>::max; }
template <class T, class F> T per_lane(T x, F f) { return f(x); }
inline bool any(bool mask) { return mask; }
inline float fma(float x, float y, float z) { return ::fmaf(x, y, z); }
inline double fma(double x, double y, double z) { return ::fma(x, y, z); }
template <class T, class F> T in_double(T x, F f) { return T(f(double(x))); }
template <class T, class F> T per_lanes(T x, T y, F f) { return f(x, y); }

// Here, so that a formula's `exp(x)` finds its own type: the global overloads are ambiguous for integers. The macro
// spells a name once for both precisions, of which CUDA's float one ends in f.
#define WEIR_MATH1(name)                                     \
  inline float name(float x) { return ::name##f(x); }        \
  inline double name(double x) { return ::name(x); }
#define WEIR_MATH2(name)                                                 \
  inline float name(float x, float y) { return ::name##f(x, y); }        \
  inline double name(double x, double y) { return ::name(x, y); }
WEIR_MATH1(exp) WEIR_MATH1(exp2) WEIR_MATH1(expm1) WEIR_MATH1(log) WEIR_MATH1(log2) WEIR_MATH1(log10)
WEIR_MATH1(log1p) WEIR_MATH1(sin) WEIR_MATH1(cos) WEIR_MATH1(tan) WEIR_MATH1(asin) WEIR_MATH1(acos)
WEIR_MATH1(atan) WEIR_MATH1(sinh) WEIR_MATH1(cosh) WEIR_MATH1(tanh) WEIR_MATH1(asinh) WEIR_MATH1(acosh)
WEIR_MATH1(atanh) WEIR_MATH1(erf) WEIR_MATH1(erfc) WEIR_MATH1(sqrt) WEIR_MATH1(lgamma) WEIR_MATH1(floor)
WEIR_MATH1(ceil) WEIR_MATH1(trunc) WEIR_MATH1(nearbyint)
WEIR_MATH2(pow) WEIR_MATH2(atan2) WEIR_MATH2(hypot) WEIR_MATH2(fmod) WEIR_MATH2(copysign) WEIR_MATH2(nextafter)
#undef WEIR_MATH1
#undef WEIR_MATH2

inline float abs(float x) { return ::fabsf(x); }
inline double abs(double x) { return ::fabs(x); }
inline int64_t abs(int64_t x) { return x < 0 ? -x : x; }

// Whole numbers are their own floor, and so on.
inline int64_t floor(int64_t x) { return x; }
inline int64_t ceil(int64_t x) { return x; }
inline int64_t trunc(int64_t x) { return x; }
inline int64_t nearbyint(int64_t x) { return x; }
inline int64_t copysign(int64_t x, int64_t y) { return (x < 0) == (y < 0) ? x : -x; }

inline int64_t pow(int64_t base, int64_t e) {
  if (e < 0) return base == 1 ? 1 : base == -1 ? (e % 2 ? -1 : 1) : 0;
  uint64_t r = 1, b = uint64_t(base);  // unsigned: wraps as the hardware does
  for (; e; e >>= 1, b *= b) if (e & 1) r *= b;
  return int64_t(r);
}

// A GPU cannot raise from a kernel: an integer divided by zero is -1, as PyTorch's CUDA kernels give.
inline int64_t quotient(int64_t a, int64_t b) { return b == 0 ? -1 : b == -1 ? int64_t(-uint64_t(a)) : a / b; }
inline int64_t fmod(int64_t a, int64_t b) { return b == 0 || b == -1 ? 0 : a % b; }
inline int64_t div_trunc(int64_t a, int64_t b) { return quotient(a, b); }
inline int64_t div_floor(int64_t a, int64_t b) {
  int64_t rest = fmod(a, b);
  return quotient(a, b) - (rest != 0 && (rest < 0) != (b < 0));
}
template <class T> T div_trunc(T a, T b) { return trunc(a / b); }
// Through the remainder, as kernels/cpu/vec.h: rounding a / b would be off by one for some quotients.
template <class T> T div_floor(T a, T b) {
  if (b == 0) return a / b;
  T mod = fmod(a, b), div = (a - mod) / b;
  if (mod != 0 && (b < 0) != (mod < 0)) div -= 1;
  if (div == 0) return copysign(T(0), a / b);
  T f = floor(div);
  return div - f > T(0.5) ? f + 1 : f;
}

}  // namespace weir
