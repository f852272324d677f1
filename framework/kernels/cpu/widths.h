// Numbers in the type that computes with them, by registers and by lines: single numbers in half precision convert slowly.
#pragma once
#include <type_traits>

#include "framework/core/scratch.h"
#include "framework/kernels/cpu/halves.h"
#include "framework/kernels/cpu/loops.h"

namespace weir {
namespace WEIR_ISA {

/// Whether numbers of type T are computed with as floats.
template <class T> constexpr bool kWidened = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;
template <class T> using Wide = std::conditional_t<kWidened<T>, float, T>;

/// Numbers of type T as the compute type A: the memory itself, or a converted copy in `buffer`.
template <class T, class A> const A* widen(const T* p, A* buffer, int64_t n) {
  if constexpr (std::is_same_v<T, A>) return p;
#ifdef __AVX2__  // here, since for lines of a few registers a call takes as long
  if constexpr (kWidened<T> && std::is_same_v<A, float>) {
    constexpr int w = Vec<float>::size;
    int64_t i = 0;
    for (; i + w <= n; i += w) widened(p + i).store(buffer + i);
    for (; i < n; i++) buffer[i] = float(p[i]);
    return buffer;
  }
#endif
  convert(dtype_of<T>(), p, 1, dtype_of<A>(), buffer, 1, n);
  return buffer;
}
/// Where to write n results: the memory itself, or `buffer`, which narrow() brings back.
template <class T, class A> A* target(T* p, A* buffer) {
  if constexpr (std::is_same_v<T, A>) return p;
  else return buffer;
}
template <class T, class A> [[gnu::always_inline]] inline void narrow(T* p, const A* buffer, int64_t n) {  // of a few numbers, in as few instructions
  if constexpr (std::is_same_v<T, A>) return;
#ifdef __AVX2__
  if constexpr (kWidened<T> && std::is_same_v<A, float>) {
    constexpr int w = Vec<float>::size;
    int64_t i = 0;
    for (; i + 2 * w <= n; i += 2 * w) narrow(Vec<float>::load(buffer + i), Vec<float>::load(buffer + i + w), p + i);
    for (; i < n; i++) p[i] = T(buffer[i]);
    return;
  }
#endif
  convert(dtype_of<A>(), buffer, 1, dtype_of<T>(), p, 1, n);
}

/// Two registers to numbers of a narrower type, or of their own, side by side.
template <class A, class T> [[gnu::always_inline]] inline void narrow_pair(Vec<A> low, Vec<A> high, T* p) {
  constexpr int w = Vec<A>::size;
  if constexpr (std::is_same_v<T, A>) {
    low.store(p), high.store(p + w);
  } else {
#ifdef __AVX2__
    if constexpr (kWidened<T> && std::is_same_v<A, float>) return narrow(low, high, p);
#endif
    for (int i = 0; i < w; i++) p[i] = T(low.v[i]), p[w + i] = T(high.v[i]);
  }
}
/// A register of A as it would be read again, had it been stored as T.
template <class T, class A> Vec<A> stored_as(Vec<A> x) {
  if constexpr (std::is_same_v<T, A>) return x;
#ifdef __AVX2__
  if constexpr (kWidened<T> && std::is_same_v<A, float>) {
    T p[Vec<A>::size];
    narrow(x, p);
    return widened(p);
  }
#endif
  return per_lane(x, [](A v) { return A(T(v)); });
}

/// A register of numbers of a narrower type, or of its own. Truths count as bytes.
template <class T, class From> Vec<T> vector_of(const From* p) {
  if constexpr (std::is_same_v<T, From>) {
    return Vec<T>::load(p);
  } else if constexpr (std::is_same_v<From, bool>) {
    return Vec<T>::load(reinterpret_cast<const T*>(p));
  } else if constexpr (std::is_same_v<T, double>) {
    typedef float Floats __attribute__((vector_size(sizeof(float) * Vec<double>::size)));
    Floats x;
    if constexpr (std::is_same_v<From, float>) std::memcpy(&x, p, sizeof x);
    else for (int i = 0; i < Vec<double>::size; i++) x[i] = float(p[i]);
    return Vec<double>(__builtin_convertvector(x, Vec<double>::V));
  } else {
    return widened(p);
  }
}

/// n numbers as `Wide`: the memory itself, or a copy in `buffer`, which grows as it must.
template <class T> const Wide<T>* widened(const T* p, Scratch<Wide<T>>& buffer, int64_t n) {
  if (kWidened<T> && int64_t(buffer.size()) < n) buffer = Scratch<Wide<T>>(size_t(n));
  return widen<T, Wide<T>>(p, buffer.data(), n);
}

}  // namespace WEIR_ISA
}  // namespace weir
