// Products of small matrices, and of integers: blocks of rows and registers of columns, of factors that are read where they are.
#pragma once
#include <algorithm>
#include <type_traits>

#include "framework/core/parallel.h"
#include "framework/kernels/cpu/matmul.h"
#include "framework/kernels/cpu/vec.h"

namespace weir {
namespace WEIR_ISA {

template <class T> Vec<T> plus_product(Vec<T> sum, Vec<T> a, Vec<T> b) {
  if constexpr (std::is_integral_v<T>) return sum + a * b;
  else return fma(a, b, sum);
}

/// R rows and C registers of columns of a product, from row i and column j on: factors are read where they are.
template <int R, int C, class T> void product_block(const Gemm& g, const T* a, const T* w, const T* bias, T* out, int64_t i, int64_t j) {
  constexpr int lanes = Vec<T>::size;
  using V = Vec<T>;
  const int64_t rows = g.a_strides[1], along = g.a_strides[2], down = g.w_strides[1], to = g.out_strides[1];
  V sum[R][C];
  for (int c = 0; c < C; c++) {
    const V first = bias ? V::load(bias + j + c * lanes) : V(T(0));
    for (int r = 0; r < R; r++) sum[r][c] = first;
  }
  a += i * rows, w += j;
  for (int64_t k = 0; k < g.m; k++, a += along, w += down) {
    V row[C];
#pragma GCC unroll 8
    for (int c = 0; c < C; c++) row[c] = V::load(w + c * lanes);
#pragma GCC unroll 8
    for (int r = 0; r < R; r++) {
      const V x(a[r * rows]);
#pragma GCC unroll 8
      for (int c = 0; c < C; c++) sum[r][c] = plus_product(sum[r][c], x, row[c]);
    }
  }
  for (int r = 0; r < R; r++)
    for (int c = 0; c < C; c++) sum[r][c].store(out + (i + r) * to + j + c * lanes);
}

/// The whole product in such blocks, those at the edges over those beside them: factors that are read where they are should be few, or have no kernel elsewhere.
constexpr int kBlockRows = kVecBytes == 64 ? 8 : 6;
template <class T> bool in_blocks(const Gemm& g) { return g.p >= Vec<T>::size && g.w_strides[2] == 1 && g.out_strides[2] == 1; }
template <int R, int C, class T> void product_of_blocks(const Gemm& g, const T* a, const T* w, const T* bias, T* out) {
  constexpr int64_t columns = C * Vec<T>::size;
  const int64_t strips = (g.p + columns - 1) / columns;
  parallel_for(g.batch * strips, kGrain * 8 / (g.n * g.m * columns + 1), [&](int64_t begin, int64_t end) {
    for (int64_t s = begin; s < end; s++) {
      const int64_t b = s / strips, j = std::min(s % strips * columns, g.p - columns);
      for (int64_t i = 0; i < g.n; i += R) product_block<R, C>(g, a + b * g.a_strides[0], w + b * g.w_strides[0], bias, out + b * g.out_strides[0], std::min(i, g.n - R), j);
    }
  });
}
template <class T> void block_product(const Gemm& g, const T* a, const T* w, const T* bias, T* out) {
  auto rows = [&]<int C>(std::integral_constant<int, C>) {
    if (g.n >= kBlockRows) product_of_blocks<kBlockRows, C>(g, a, w, bias, out);
    else if (g.n >= 4) product_of_blocks<4, C>(g, a, w, bias, out);
    else product_of_blocks<1, C>(g, a, w, bias, out);
  };
  g.p >= 2 * Vec<T>::size ? rows(std::integral_constant<int, 2>{}) : rows(std::integral_constant<int, 1>{});
}

}  // namespace WEIR_ISA
}  // namespace weir
