// Squares of items with rows and columns exchanged, in registers.
#pragma once
#include <algorithm>
#include <cstring>
#include <utility>

#include "framework/kernels/cpu/vec.h"

namespace weir {
namespace WEIR_ISA {

constexpr int64_t kSquare = 32;  // items on a side: with its copy it fits the first-level cache

template <class U, size_t n> struct Lanes {
  typedef U V __attribute__((vector_size(n * sizeof(U))));
};

// A square of a vector's length on a side. Each round pairs a row with the one half of them further on.
template <class U, size_t... I> void transpose_lanes(const U* from, int64_t from_row, U* to, int64_t to_row, std::index_sequence<I...>) {
  constexpr int n = sizeof...(I);
  using V = typename Lanes<U, n>::V;
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

/// to[j * to_row + i] = from[i * from_row + j] of `rows` times `cols` items, neither fewer than `n`: by squares, of which the last are moved back over
/// what is done.
template <size_t n, class U> void turn_by(const U* from, int64_t from_row, U* to, int64_t to_row, int64_t rows, int64_t cols) {
  for (int64_t i = 0; i < rows; i += n)
    for (int64_t j = 0; j < cols; j += n) {
      const int64_t row = std::min(i, rows - int64_t(n)), col = std::min(j, cols - int64_t(n));
      transpose_lanes(from + row * from_row + col, from_row, to + col * to_row + row, to_row, std::make_index_sequence<n>());
    }
}

constexpr int64_t kLeastSquare = 4;
/// The same of any number of rows and columns: one by one where they do not hold a square of kLeastSquare.
template <class U> void turn(const void* from, int64_t from_row, void* to, int64_t to_row, int64_t rows, int64_t cols) {
  const U* x = static_cast<const U*>(from);
  U* y = static_cast<U*>(to);
  const int64_t least = std::min(rows, cols);
  if (least >= Vec<U>::size) return turn_by<Vec<U>::size>(x, from_row, y, to_row, rows, cols);
  if (Vec<U>::size > 8 && least >= 8) return turn_by<8>(x, from_row, y, to_row, rows, cols);
  if (least >= kLeastSquare) return turn_by<kLeastSquare>(x, from_row, y, to_row, rows, cols);
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < cols; j++) std::memcpy(y + j * to_row + i, x + i * from_row + j, sizeof(U));
}

}  // namespace WEIR_ISA
}  // namespace weir
