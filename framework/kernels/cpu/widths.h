// Lines of numbers in the type that computes with them: half precision converts by the line, since single numbers do so slowly.
#pragma once
#include <type_traits>

#include "framework/core/scratch.h"
#include "framework/kernels/cpu/loops.h"

namespace weir {
namespace WEIR_ISA {

/// Numbers of type T as the compute type A: the memory itself, or a converted copy in `buffer`.
template <class T, class A> const A* widen(const T* p, A* buffer, int64_t n) {
  if constexpr (std::is_same_v<T, A>) return p;
  convert(dtype_of<T>(), p, 1, dtype_of<A>(), buffer, 1, n);
  return buffer;
}
/// Where to write n results: the memory itself, or `buffer`, which narrow() brings back.
template <class T, class A> A* target(T* p, A* buffer) {
  if constexpr (std::is_same_v<T, A>) return p;
  else return buffer;
}
template <class T, class A> void narrow(T* p, const A* buffer, int64_t n) {
  if constexpr (!std::is_same_v<T, A>) convert(dtype_of<A>(), buffer, 1, dtype_of<T>(), p, 1, n);
}

/// Whether numbers of type T are computed with as floats.
template <class T> constexpr bool kWidened = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;
template <class T> using Wide = std::conditional_t<kWidened<T>, float, T>;

/// n numbers as `Wide`: the memory itself, or a copy in `buffer`, which grows as it must.
template <class T> const Wide<T>* widened(const T* p, Scratch<Wide<T>>& buffer, int64_t n) {
  if (kWidened<T> && int64_t(buffer.size()) < n) buffer = Scratch<Wide<T>>(size_t(n));
  return widen<T, Wide<T>>(p, buffer.data(), n);
}

}  // namespace WEIR_ISA
}  // namespace weir
