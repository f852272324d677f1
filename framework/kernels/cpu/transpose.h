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

// A square of a vector's length on a side. Each round pairs a row with the one half of them further on: first within 16 bytes of the registers,
// for which machines have one instruction, then of 16 bytes each. Inline, so that the registers stay what they are.
template <class U, size_t... I> [[gnu::always_inline]] inline void turn_square(typename Lanes<U, sizeof...(I)>::V (&a)[sizeof...(I)], std::index_sequence<I...>) {
  constexpr int n = sizeof...(I), lanes = std::min<int>(n, 16 / sizeof(U)), parts = n / lanes;
  using M = typename Lanes<typename LaneInt<sizeof(U)>::type, n>::V;
  typename Lanes<U, n>::V b[n];
#pragma GCC unroll 4
  for (int round = 1; round < lanes; round *= 2) {
#pragma GCC unroll 8
    for (int part = 0; part < n; part += lanes)
#pragma GCC unroll 8
      for (int i = 0; i < lanes / 2; i++) {
        const auto x = a[part + i], y = a[part + i + lanes / 2];
        b[part + 2 * i] = __builtin_shuffle(x, y, M{(I / lanes * lanes + I % lanes / 2 + I % 2 * n)...});
        b[part + 2 * i + 1] = __builtin_shuffle(x, y, M{(I / lanes * lanes + lanes / 2 + I % lanes / 2 + I % 2 * n)...});
      }
    ((a[I] = b[I]), ...);  // one by one: as bytes, four short registers went through memory as one long one, which waits for its parts
  }
#pragma GCC unroll 2
  for (int round = 1; round < parts; round *= 2) {
#pragma GCC unroll 2
    for (int part = 0; part < parts / 2; part++)
#pragma GCC unroll 16
      for (int i = 0; i < lanes; i++) {
        const auto x = a[part * lanes + i], y = a[(part + parts / 2) * lanes + i];
        b[2 * part * lanes + i] = __builtin_shuffle(x, y, M{(I / lanes / 2 * lanes + I % lanes + I / lanes % 2 * n)...});
        b[(2 * part + 1) * lanes + i] = __builtin_shuffle(x, y, M{(n / 2 + I / lanes / 2 * lanes + I % lanes + I / lanes % 2 * n)...});
      }
    ((a[I] = b[I]), ...);
  }
}
template <class U, size_t... I> void transpose_lanes(const U* from, int64_t from_row, U* to, int64_t to_row, std::index_sequence<I...> lanes) {
  typename Lanes<U, sizeof...(I)>::V a[sizeof...(I)];
  (std::memcpy(&a[I], from + I * from_row, sizeof a[I]), ...);
  turn_square<U>(a, lanes);
  (std::memcpy(to + I * to_row, &a[I], sizeof a[I]), ...);
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

/// to[j * n + i] = from[i][j] of `cols` items of each of a vector's length n of rows that lie anywhere.
template <class U, size_t... I> void gather_rows(const U* const* from, U* to, int64_t cols, std::index_sequence<I...> lanes) {
  constexpr int64_t n = sizeof...(I);
  typename Lanes<U, n>::V a[n];
  for (int64_t j = 0; j < cols && cols >= n; j += n) {
    const int64_t col = std::min(j, cols - n);
    (std::memcpy(&a[I], from[I] + col, sizeof a[I]), ...);
    turn_square<U>(a, lanes);
    (std::memcpy(to + (col + I) * n, &a[I], sizeof a[I]), ...);
  }
  for (int64_t j = 0; j < cols && cols < n; j++) ((to[j * n + I] = from[I][j]), ...);
}
/// The same back. A row may be in several places.
template <class U, size_t... I> void scatter_rows(const U* from, U* const* to, int64_t cols, std::index_sequence<I...> lanes) {
  constexpr int64_t n = sizeof...(I);
  typename Lanes<U, n>::V a[n];
  for (int64_t j = 0; j < cols && cols >= n; j += n) {
    const int64_t col = std::min(j, cols - n);
    (std::memcpy(&a[I], from + (col + I) * n, sizeof a[I]), ...);
    turn_square<U>(a, lanes);
    (std::memcpy(to[I] + col, &a[I], sizeof a[I]), ...);
  }
  for (int64_t j = 0; j < cols && cols < n; j++) ((to[I][j] = from[j * n + I]), ...);
}

constexpr int64_t kLeastSquare = 4;
/// The same of any number of rows and columns: one by one where they do not hold a square of kLeastSquare.
template <class U> void turn(const void* from, int64_t from_row, void* to, int64_t to_row, int64_t rows, int64_t cols) {
  const U* x = static_cast<const U*>(from);
  U* y = static_cast<U*>(to);
  const int64_t least = std::min(rows, cols);
  constexpr int most = std::min(Vec<U>::size, 16);
  if (least >= most) return turn_by<most>(x, from_row, y, to_row, rows, cols);
  if (most > 8 && least >= 8) return turn_by<8>(x, from_row, y, to_row, rows, cols);
  if (least >= kLeastSquare) return turn_by<kLeastSquare>(x, from_row, y, to_row, rows, cols);
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < cols; j++) std::memcpy(y + j * to_row + i, x + i * from_row + j, sizeof(U));
}

}  // namespace WEIR_ISA
}  // namespace weir
