// Squares of items with rows and columns exchanged, in registers.
#pragma once
#include <algorithm>
#include <cstring>
#include <utility>

#include "framework/kernels/cpu/vec.h"

namespace weir {
namespace WEIR_ISA {

constexpr int64_t kSquare = 32;  // items on a side: with its copy it fits the first-level cache

// As many rows as a vector has lanes, columns to rows. Each round pairs a row with the one half of them further on.
template <class U, size_t... I> void transpose_lanes(const U* from, int64_t from_row, U* to, int64_t to_row, std::index_sequence<I...>) {
  using V = typename Vec<U>::V;
  constexpr int n = sizeof...(I);
  V a[n], b[n];
  for (int i = 0; i < n; i++) std::memcpy(&a[i], from + i * from_row, sizeof(V));
  for (int round = 1; round < n; round *= 2) {
    for (int i = 0; i < n / 2; i++) {
      b[2 * i] = __builtin_shuffle(a[i], a[i + n / 2], V{U(I / 2 + I % 2 * n)...});
      b[2 * i + 1] = __builtin_shuffle(a[i], a[i + n / 2], V{U(n / 2 + I / 2 + I % 2 * n)...});
    }
    std::memcpy(a, b, sizeof a);
  }
  for (int i = 0; i < n; i++) std::memcpy(to + i * to_row, &a[i], sizeof(V));
}

// to[i * kSquare + j] = from[j * from_row + i] of `rows` times `cols` items.
template <class U> void transpose_square(const void* from, int64_t from_row, void* to, int64_t rows, int64_t cols) {
  constexpr int64_t n = Vec<U>::size;
  const U* x = static_cast<const U*>(from);
  U* y = static_cast<U*>(to);
  const int64_t in_vectors = n > kSquare ? 0 : cols / n * n;
  for (int64_t j = 0; j < in_vectors; j += n) {
    int64_t i = 0;
    for (; i + n <= rows; i += n)
      transpose_lanes(x + j * from_row + i, from_row, y + i * kSquare + j, kSquare, std::make_index_sequence<size_t(n)>());
    for (; i < rows; i++)
      for (int64_t k = j; k < j + n; k++) y[i * kSquare + k] = x[k * from_row + i];
  }
  for (int64_t j = in_vectors; j < cols; j++)
    for (int64_t i = 0; i < rows; i++) y[i * kSquare + j] = x[j * from_row + i];
}

// f(row, column) for squares that cover `rows` times `cols` items, the last ones moved back over what is done. False where they do not hold one.
template <class U, class F> bool each_square(int64_t rows, int64_t cols, F&& f) {
  constexpr int64_t n = Vec<U>::size;
  if (rows < n || cols < n) return false;
  for (int64_t i = 0; i < rows; i += n)
    for (int64_t j = 0; j < cols; j += n) f(std::min(i, rows - n), std::min(j, cols - n));
  return true;
}
/// to[j * to_row + i] = from[i * from_row + j] of `rows` times `cols` items.
template <class U> void turn(const void* from, int64_t from_row, void* to, int64_t to_row, int64_t rows, int64_t cols) {
  const U* x = static_cast<const U*>(from);
  U* y = static_cast<U*>(to);
  if (each_square<U>(rows, cols, [&](int64_t i, int64_t j) {
        transpose_lanes(x + i * from_row + j, from_row, y + j * to_row + i, to_row, std::make_index_sequence<size_t(Vec<U>::size)>());
      })) return;
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < cols; j++) std::memcpy(y + j * to_row + i, x + i * from_row + j, sizeof(U));
}

}  // namespace WEIR_ISA
}  // namespace weir
