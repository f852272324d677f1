// A run of numbers in whole registers, the last of which may be filled in part.
#pragma once
#include "framework/kernels/cpu/vec.h"

namespace weir {
namespace WEIR_ISA {

/// The first n numbers at p, zeros behind them.
template <class T> Vec<T> load(const T* p, int n) {
  if (n == Vec<T>::size) return Vec<T>::load(p);
  T pad[Vec<T>::size] = {};
  std::memcpy(pad, p, n * sizeof(T));
  return Vec<T>::load(pad);
}
/// The first n lanes to p.
template <class T> void store(Vec<T> v, T* p, int n) {
  if (n == Vec<T>::size) return v.store(p);
  T pad[Vec<T>::size];
  v.store(pad);
  std::memcpy(p, pad, n * sizeof(T));
}
/// f(j, count) for each register of n numbers: those from j on.
template <class T, class F> void for_registers(int64_t n, F&& f) {
  constexpr int w = Vec<T>::size;
  int64_t j = 0;
  for (; j + w <= n; j += w) f(j, w);
  if (j < n) f(j, int(n - j));
}

}  // namespace WEIR_ISA
}  // namespace weir
