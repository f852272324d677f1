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

/// to[j * to_row + i] = from[i * from_row + j] of `rows` times `cols` items: by squares of which the last are moved back over what is done, one by one
/// where they do not hold a square.
template <class U> void turn(const void* from, int64_t from_row, void* to, int64_t to_row, int64_t rows, int64_t cols) {
  constexpr int64_t n = Vec<U>::size;
  const U* x = static_cast<const U*>(from);
  U* y = static_cast<U*>(to);
  if (rows < n || cols < n) {
    for (int64_t i = 0; i < rows; i++)
      for (int64_t j = 0; j < cols; j++) std::memcpy(y + j * to_row + i, x + i * from_row + j, sizeof(U));
    return;
  }
  for (int64_t i = 0; i < rows; i += n)
    for (int64_t j = 0; j < cols; j += n) {
      const int64_t row = std::min(i, rows - n), col = std::min(j, cols - n);
      transpose_lanes(x + row * from_row + col, from_row, y + col * to_row + row, to_row, std::make_index_sequence<size_t(n)>());
    }
}

}  // namespace WEIR_ISA
}  // namespace weir
