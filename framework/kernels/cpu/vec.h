// Vec<T>: as many numbers as one register of this build holds; the `T` of kernels/formulas.h on the CPU.
//
// GCC's vector extension gives the arithmetic, glibc's libmvec the transcendental functions (at most 4 ulp).
// This file is compiled once per instruction set; WEIR_ISA names the namespace, so builds never mix.
#pragma once
#include <array>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "framework/core/error.h"
#include "framework/core/scalar.h"

namespace weir {
namespace WEIR_ISA {

#if defined(__AVX512F__)
constexpr int kVecBytes = 64;
#elif defined(__AVX2__)
constexpr int kVecBytes = 32;
#else
constexpr int kVecBytes = 16;
#endif

template <size_t n> struct LaneInt;
template <> struct LaneInt<1> { using type = int8_t; };
template <> struct LaneInt<2> { using type = int16_t; };
template <> struct LaneInt<4> { using type = int32_t; };
template <> struct LaneInt<8> { using type = int64_t; };

/// The type in which lanes add and multiply: integers wrap around as PyTorch's do, which C++ promises for unsigned ones only.
template <class T> struct LaneSum { using type = T; };
template <std::integral T> struct LaneSum<T> { using type = std::make_unsigned_t<T>; };

template <class T> struct Vec;

template <class T> struct Mask {
  typedef typename LaneInt<sizeof(T)>::type V __attribute__((vector_size(kVecBytes)));
  V v;
  Mask operator&(Mask o) const { return {v & o.v}; }
  Mask operator|(Mask o) const { return {v | o.v}; }
  Mask operator^(Mask o) const { return {v ^ o.v}; }
  Mask operator!() const { return {~v}; }
};

template <class T> struct Vec {
  typedef T V __attribute__((vector_size(kVecBytes)));
  typedef typename LaneSum<T>::type W __attribute__((vector_size(kVecBytes)));
  static constexpr int size = kVecBytes / int(sizeof(T));
  V v;

  Vec() = default;
  Vec(V x) : v(x) {}
  template <class N> requires std::is_arithmetic_v<N>
  explicit Vec(N x) : v(T(x) - V{}) {}  // not V{} + x, which makes 0 of -0
  static Vec load(const T* p) {
    Vec r;
    std::memcpy(&r.v, p, sizeof r.v);
    return r;
  }
  void store(T* p) const { std::memcpy(p, &v, sizeof v); }

  friend Vec operator+(Vec a, Vec b) { return V(W(a.v) + W(b.v)); }
  friend Vec operator-(Vec a, Vec b) { return V(W(a.v) - W(b.v)); }
  friend Vec operator*(Vec a, Vec b) { return V(W(a.v) * W(b.v)); }
  friend Vec operator/(Vec a, Vec b) { return a.v / b.v; }
  friend Vec operator-(Vec a) { return V(-W(a.v)); }
  friend Vec operator&(Vec a, Vec b) { return a.v & b.v; }
  friend Vec operator|(Vec a, Vec b) { return a.v | b.v; }
  friend Vec operator^(Vec a, Vec b) { return a.v ^ b.v; }
  friend Vec operator<<(Vec a, Vec b) { return V(W(a.v) << W(b.v)); }
  friend Vec operator>>(Vec a, Vec b) { return a.v >> b.v; }
  friend Vec operator~(Vec a) { return ~a.v; }
  friend Mask<T> operator<(Vec a, Vec b) { return {a.v < b.v}; }
  friend Mask<T> operator<=(Vec a, Vec b) { return {a.v <= b.v}; }
  friend Mask<T> operator>(Vec a, Vec b) { return {a.v > b.v}; }
  friend Mask<T> operator>=(Vec a, Vec b) { return {a.v >= b.v}; }
  friend Mask<T> operator==(Vec a, Vec b) { return {a.v == b.v}; }
  friend Mask<T> operator!=(Vec a, Vec b) { return {a.v != b.v}; }
};

template <class T> Vec<T> where(Mask<T> m, Vec<T> a, Vec<T> b) { return m.v ? a.v : b.v; }
/// An attribute, which the op has checked to be a real number where T is: nothing that can throw stands in a loop.
template <class T> Vec<T> scalar(Vec<T>, const Scalar& s) {
  if constexpr (std::is_arithmetic_v<T>) return Vec<T>(s.is_whole() ? T(s.i) : T(s.d));
  else return Vec<T>(s.to<T>());
}
template <class T> Vec<T> largest(Vec<T>) { return Vec<T>(std::numeric_limits<T>::max()); }

/// join(lane 0, lane 1, ...): halves joined to halves, so `join` takes and gives vectors.
template <class T, class F> T across_lanes(Vec<T> x, F join) {
  typename Mask<T>::V lane;
  for (int i = 0; i < Vec<T>::size; i++) lane[i] = i;
#pragma GCC unroll 8  // the compiler leaves a loop of shuffles through memory otherwise
  for (int half = Vec<T>::size / 2; half > 0; half /= 2) x = join(x, Vec<T>(__builtin_shuffle(x.v, lane ^ typename LaneInt<sizeof(T)>::type(half))));
  return x.v[0];
}
template <class T> T sum_lanes(Vec<T> x) {
  return across_lanes(x, [](Vec<T> a, Vec<T> b) { return a + b; });
}

template <class T, class F> Vec<T> per_lane(Vec<T> x, F f) {
  for (int i = 0; i < Vec<T>::size; i++) x.v[i] = f(T(x.v[i]));
  return x;
}
template <class T, class F> Vec<T> per_lanes(Vec<T> x, Vec<T> y, F f) {
  for (int i = 0; i < Vec<T>::size; i++) x.v[i] = f(T(x.v[i]), T(y.v[i]));
  return x;
}

// The one macro family here: libmvec's symbols spell instruction set, lanes and arity, so a name must be pasted.
#if defined(__AVX512F__)
#define WEIR_F32(args, name) _ZGVeN16##args##_##name##f
#define WEIR_F64(args, name) _ZGVeN8##args##_##name
#elif defined(__AVX2__)
#define WEIR_F32(args, name) _ZGVdN8##args##_##name##f
#define WEIR_F64(args, name) _ZGVdN4##args##_##name
#else
#define WEIR_F32(args, name) _ZGVbN4##args##_##name##f
#define WEIR_F64(args, name) _ZGVbN2##args##_##name
#endif
#define WEIR_DOUBLE1_AS(ours, name)                                           \
  extern "C" Vec<double>::V WEIR_F64(v, name)(Vec<double>::V);                \
  inline Vec<double> ours(Vec<double> x) { return WEIR_F64(v, name)(x.v); }
#define WEIR_DOUBLE1(name) WEIR_DOUBLE1_AS(name, name)
#define WEIR_MATH1(name)                                                      \
  extern "C" Vec<float>::V WEIR_F32(v, name)(Vec<float>::V);                  \
  inline Vec<float> name(Vec<float> x) { return WEIR_F32(v, name)(x.v); }     \
  WEIR_DOUBLE1(name)
#define WEIR_MATH2(ours, name)                                                            \
  extern "C" Vec<float>::V WEIR_F32(vv, name)(Vec<float>::V, Vec<float>::V);              \
  extern "C" Vec<double>::V WEIR_F64(vv, name)(Vec<double>::V, Vec<double>::V);           \
  inline Vec<float> ours(Vec<float> x, Vec<float> y) { return WEIR_F32(vv, name)(x.v, y.v); } \
  inline Vec<double> ours(Vec<double> x, Vec<double> y) { return WEIR_F64(vv, name)(x.v, y.v); }
WEIR_DOUBLE1_AS(exp_of_near, exp) WEIR_DOUBLE1(exp2) WEIR_DOUBLE1(expm1) WEIR_DOUBLE1(log) WEIR_DOUBLE1(log1p) WEIR_DOUBLE1(erf) WEIR_DOUBLE1(tanh) WEIR_DOUBLE1(log10)
WEIR_DOUBLE1(log2)  // those of floats: vec_math.h
WEIR_MATH1(sin) WEIR_MATH1(cos) WEIR_MATH1(tan)
WEIR_MATH1(asin) WEIR_MATH1(acos) WEIR_MATH1(atan) WEIR_MATH1(sinh) WEIR_MATH1(cosh) WEIR_MATH1(asinh)
WEIR_MATH1(acosh) WEIR_MATH1(atanh) WEIR_MATH1(erfc)
WEIR_MATH2(pow_of_positive, pow) WEIR_MATH2(atan2, atan2) WEIR_MATH2(hypot, hypot)
#undef WEIR_DOUBLE1
#undef WEIR_DOUBLE1_AS
#undef WEIR_MATH1
#undef WEIR_MATH2
#undef WEIR_F32
#undef WEIR_F64

template <class T> constexpr bool kReal = std::is_floating_point_v<T>;

template <class T> Vec<T> abs(Vec<T> x) {
  if constexpr (kReal<T>) {
    using I = typename Mask<T>::V;
    return (typename Vec<T>::V)((I)x.v & (I{} + std::numeric_limits<typename LaneInt<sizeof(T)>::type>::max()));
  } else {
    return where(x < Vec<T>(0), -x, x);
  }
}
// Lane loops over builtins: the compiler turns these into one instruction where the instruction set has it.
template <class T, class F> Vec<T> rounded(Vec<T> x, F f) {
  if constexpr (!kReal<T>) return x;
  else return per_lane(x, f);
}
template <class T> Vec<T> sqrt(Vec<T> x) { return per_lane(x, [](T v) { return T(__builtin_sqrt(v)); }); }
template <> inline Vec<float> sqrt(Vec<float> x) {
  for (int i = 0; i < Vec<float>::size; i++) x.v[i] = __builtin_sqrtf(x.v[i]);
  return x;
}
template <class T> Vec<T> floor(Vec<T> x) { return rounded(x, [](T v) { return std::floor(v); }); }
template <class T> Vec<T> ceil(Vec<T> x) { return rounded(x, [](T v) { return std::ceil(v); }); }
template <class T> Vec<T> trunc(Vec<T> x) { return rounded(x, [](T v) { return std::trunc(v); }); }
template <class T> Vec<T> nearbyint(Vec<T> x) { return rounded(x, [](T v) { return std::rint(v); }); }  // rint: the same, and vectorised, but of doubles
template <class T> Vec<T> copysign(Vec<T> x, Vec<T> y) {
  if constexpr (kReal<T>) {
    using I = typename Mask<T>::V;
    const I magnitude = I{} + std::numeric_limits<typename LaneInt<sizeof(T)>::type>::max();
    return (typename Vec<T>::V)(((I)x.v & magnitude) | ((I)y.v & ~magnitude));
  } else {
    const Vec<T> size = abs(x);
    return where(y < Vec<T>(0), -size, size);
  }
}
template <> inline Vec<double> nearbyint(Vec<double> x) {
  const Vec<double> whole(0x1p52), size = abs(x);  // from which on there are no fractions
  return where(size < whole, copysign(size + whole - whole, x), x);
}
// Of finite numbers: their bits, read as whole numbers with a sign, are in their order, and the next number has the next bits.
template <class T> Vec<T> nextafter(Vec<T> x, Vec<T> y) {
  if constexpr (kReal<T>) {
    using I = typename Mask<T>::V;
    using Bits = std::make_unsigned_t<typename LaneInt<sizeof(T)>::type>;
    typedef Bits U __attribute__((vector_size(sizeof(I))));  // which wraps around at -0, whose next number is `least`
    const I bits = (I)x.v, up = (I)((x < y).v) ^ (bits >> (8 * sizeof(T) - 1));  // away from zero?
    const Vec<T> next = (typename Vec<T>::V)((U)bits + (U)(up & 2) - 1);
    const Vec<T> least = copysign(Vec<T>(std::numeric_limits<T>::denorm_min()), y);
    const Vec<T> moved = where(x == Vec<T>(0), least, next);
    return where(x == y, y, where((x != x) | (y != y), x + y, moved));
  } else {
    return per_lanes(x, y, [](T a, T b) { return T(std::nextafter(a, b)); });
  }
}
/// f of the same numbers as doubles, rounded back.
template <class F> Vec<double> in_double(Vec<double> x, F f) { return f(x); }
template <class F> Vec<float> in_double(Vec<float> x, F f) {
  typedef float Half __attribute__((vector_size(kVecBytes / 2)));
  auto halves = std::bit_cast<std::array<Half, 2>>(x.v);
  for (Half& half : halves) half = __builtin_convertvector(f(Vec<double>(__builtin_convertvector(half, Vec<double>::V))).v, Half);
  return std::bit_cast<Vec<float>::V>(halves);
}
inline int64_t int_pow(int64_t base, int64_t e) {
  if (e < 0) return base == 1 ? 1 : base == -1 ? (e % 2 ? -1 : 1) : 0;
  uint64_t r = 1, b = uint64_t(base);  // unsigned: wraps as the hardware does
  for (; e; e >>= 1, b *= b) if (e & 1) r *= b;
  return int64_t(r);
}
inline Vec<int64_t> pow(Vec<int64_t> x, Vec<int64_t> y) { return per_lanes(x, y, int_pow); }

}  // namespace WEIR_ISA
}  // namespace weir

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"  // GCC's own intrinsics: bug 105593
#include "framework/kernels/cpu/vec_math.h"
#pragma GCC diagnostic pop

namespace weir {
namespace WEIR_ISA {

// Whole numbers of twice as many bytes.
template <class T> struct TwiceAsWide;
template <> struct TwiceAsWide<int8_t> { using type = int16_t; };
template <> struct TwiceAsWide<uint8_t> { using type = uint16_t; };
template <> struct TwiceAsWide<int16_t> { using type = int32_t; };
template <> struct TwiceAsWide<uint16_t> { using type = uint32_t; };

// Rounded towards zero; no y is zero, and the least number by -1 wraps around. Numbers of up to 32 bits are divided as floating ones that hold
// them: a quotient that is not whole is further from the next whole number than such a division rounds. Those of 8 and 16 bits are lanes of
// twice the width, first every other and then the rest.
template <std::integral T> Vec<T> whole_quotient(Vec<T> a, Vec<T> b) {
  if constexpr (sizeof(T) == 8) {
    // Numbers of up to 51 bits are the last digits of doubles beside 1.5 * 2^52, which a vector divides in a third of the time.
    using D = typename Vec<double>::V;
    constexpr int64_t bits = 0x4338000000000000, limit = int64_t(1) << 51;
    constexpr double magic = 0x1.8p52;
    const auto far = ((a.v + limit) | (b.v + limit)) & -(2 * limit);
    if (!lanes::any(Mask<T>{far != 0})) {
      const Vec<double> q = trunc(Vec<double>(((D)(a.v + bits) - magic) / ((D)(b.v + bits) - magic)));
      return Vec<T>((typename Vec<T>::V)(q.v + magic) - bits);
    }
    return per_lanes(a, b, [](T x, T y) { return y == -1 ? T(-uint64_t(x)) : x / y; });
  } else if constexpr (sizeof(T) == 4) {
    constexpr int n = Vec<double>::size;
    typedef T Some __attribute__((vector_size(n * sizeof(T))));
    Vec<T> quotients;
    for (int at = 0; at < Vec<T>::size; at += n) {
      Some x, y;
      std::memcpy(&x, reinterpret_cast<const T*>(&a.v) + at, sizeof x);
      std::memcpy(&y, reinterpret_cast<const T*>(&b.v) + at, sizeof y);
      const Vec<double> q = __builtin_convertvector(x, Vec<double>::V) / __builtin_convertvector(y, Vec<double>::V);
      x = __builtin_convertvector(where(q > Vec<double>(2147483647.0), Vec<double>(-2147483648.0), q).v, Some);
      std::memcpy(reinterpret_cast<T*>(&quotients.v) + at, &x, sizeof x);
    }
    return quotients;
  } else {
    using Wide = typename TwiceAsWide<T>::type;
    using W = typename Vec<Wide>::V;
    using Bits = std::make_unsigned_t<Wide>;
    typedef Bits B __attribute__((vector_size(kVecBytes)));
    constexpr int bits = 8 * sizeof(T);
    auto even = [](Vec<T> x) { return Vec<Wide>(W((B)x.v << bits) >> bits); };
    auto odd = [](Vec<T> x) { return Vec<Wide>((W)x.v >> bits); };
    auto divide = [](Vec<Wide> x, Vec<Wide> y) {
      if constexpr (sizeof(T) == 1) return whole_quotient(x, y);
      else {
        using F = typename Vec<float>::V;
        return Vec<Wide>(__builtin_convertvector(__builtin_convertvector(x.v, F) / __builtin_convertvector(y.v, F), W));
      }
    };
    const B low = (B)divide(even(a), even(b)).v, high = (B)divide(odd(a), odd(b)).v;
    return (typename Vec<T>::V)((low << bits >> bits) | (high << bits));
  }
}
// Raises where the hardware would trap.
template <std::integral T> Vec<T> checked_quotient(Vec<T> a, Vec<T> b) {
  check(!lanes::any(b == Vec<T>(T(0))), "ZeroDivisionError");
  return whole_quotient(a, b);
}
// Of whole quotients up to 2^22, x / y is off by at most one, upwards, and the fused multiply-add rounds nothing away.
template <class T> Vec<T> fmod(Vec<T> a, Vec<T> b) {
  if constexpr (kReal<T>) {
#ifdef __FMA__
    Vec<T> x = abs(a), y = abs(b), q = trunc(x / y), r = lanes::fma(-q, y, x);
    Mask<T> exact = (q <= Vec<T>(T(1 << 22))) & (y <= largest(y));
    if (!lanes::any(!exact)) return copysign(where(r < Vec<T>(T(0)), r + y, r), a);
#endif
    return per_lanes(a, b, [](T x, T y) { return std::fmod(x, y); });
  } else {
    return a - checked_quotient(a, b) * b;
  }
}
template <class T> Vec<T> div_trunc(Vec<T> a, Vec<T> b) {
  if constexpr (kReal<T>) return trunc(a / b);
  else return checked_quotient(a, b);
}
// Floored division through the remainder, as Python's: rounding a / b would be off by one for some quotients.
template <std::floating_point T> Vec<T> floor_quotient(Vec<T> a, Vec<T> b) {
  const Vec<T> zero(T(0)), one(T(1)), plain = a / b;
  Vec<T> mod = fmod(a, b), div = (a - mod) / b;
  div = where((mod != zero) & ((b < zero) ^ (mod < zero)), div - one, div);
  Vec<T> f = floor(div);
  f = where(div - f > Vec<T>(T(0.5)), f + one, f);
  return where(b == zero, plain, where(div == zero, copysign(zero, plain), f));
}
template <class T> Vec<T> div_floor(Vec<T> a, Vec<T> b) {
  if constexpr (kReal<T>) {
    return floor_quotient(a, b);
  } else {
    const Vec<T> zero(T(0)), q = checked_quotient(a, b);
    return where((q * b != a) & ((a < zero) ^ (b < zero)), q - Vec<T>(T(1)), q);
  }
}

}  // namespace WEIR_ISA
}  // namespace weir
