// Vectors for ducc0's transforms, by the names of its infra/simd.h and in the place of that header, whose std::experimental::simd takes a
// third of the time that the transforms take to compile.
#pragma once
#include <cstddef>

#include "framework/kernels/cpu/vec.h"

#ifdef DUCC0_SIMD_H
#error "ducc0's own vectors are included already"
#endif
#define DUCC0_SIMD_H

namespace DUCC0_NAMESPACE {

constexpr size_t kLaneBytes = weir::WEIR_ISA::kVecBytes;

template <class T, size_t n> struct VectorOf {
  typedef T type __attribute__((vector_size(n * sizeof(T))));
};

template <class T, size_t n> struct Lanes {
  using value_type = T;
  using Vector = typename VectorOf<T, n>::type;
  static constexpr size_t size() { return n; }

  Vector v;

  Lanes() = default;
  Lanes(T x) : v(x - Vector{}) {}
  Lanes(Vector of) : v(of) {}

  struct Lane {
    Vector& v;
    size_t i;
    Lane& operator=(T x) {
      v[i] = x;
      return *this;
    }
    Lane& operator=(const Lane& of) { return *this = T(of); }
    operator T() const { return v[i]; }
  };
  Lane operator[](size_t i) { return {v, i}; }
  T operator[](size_t i) const { return v[i]; }

  Lanes operator-() const { return -v; }
  Lanes& operator+=(Lanes b) { return v += b.v, *this; }
  Lanes& operator-=(Lanes b) { return v -= b.v, *this; }
  Lanes& operator*=(Lanes b) { return v *= b.v, *this; }
  friend Lanes operator+(Lanes a, Lanes b) { return a.v + b.v; }
  friend Lanes operator-(Lanes a, Lanes b) { return a.v - b.v; }
  friend Lanes operator*(Lanes a, Lanes b) { return a.v * b.v; }
};

template <class T> using native_simd = Lanes<T, kLaneBytes / sizeof(T)>;
template <class T, int n> struct simd_select {
  using type = Lanes<T, n>;
};
template <class T, int n> constexpr inline bool simd_exists = n * sizeof(T) >= 16 && n * sizeof(T) <= kLaneBytes;

}  // namespace DUCC0_NAMESPACE
