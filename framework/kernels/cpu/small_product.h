// Batches of products of small matrices, for which a call of oneDNN or BLAS costs more than the work.
#pragma once
#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include "framework/core/parallel.h"
#include "framework/kernels/cpu/matmul.h"
#include "framework/kernels/cpu/vec.h"

namespace weir {
namespace WEIR_ISA {

constexpr int64_t kDeepest = 64, kWidest = 16;  // what is summed over, and across

/// The numbers that a line of so many columns takes, 0 where it is none of these: the compiler knows loops over them.
inline int64_t line_of(int64_t columns) { return columns <= 4 ? 4 : columns <= 8 ? 8 : columns <= kWidest ? 16 : 0; }

/// The product of the transposed factors in the other order, whose result is the transposed one.
inline Gemm turned(const Gemm& g) {
  Gemm t{g.batch, g.p, g.m, g.n, g.w_strides, g.a_strides, g.out_strides};
  for (Dims* s : {&t.a_strides, &t.w_strides, &t.out_strides}) std::swap((*s)[1], (*s)[2]);
  return t;
}

inline bool is_small_product(const Gemm& g) {
  return g.batch > 1 && g.m > 0 && g.m <= kDeepest && std::min(g.n, g.p) <= kWidest && g.n * g.m * g.p <= 4096;
}

template <int P, class T> void small_lines(const Gemm& g, const T* a, const T* w, T* out) {
  constexpr int kPart = std::min<int>(P, kVecBytes / sizeof(T)), kParts = P / kPart, kRows = kParts <= 2 ? 4 : 2;  // sums stay in registers
  using Part [[gnu::vector_size(kPart * sizeof(T))]] = T;
  parallel_for(g.batch, std::max<int64_t>(1, kGrain * 4 / (g.n * g.m * P)), [&](int64_t begin, int64_t end) {
    alignas(64) T lines[kDeepest][P] = {}, sums[kRows][P];  // of w, with zeros behind
    for (int64_t b = begin; b < end; b++) {
      const T *left = a + b * g.a_strides[0], *right = w + b * g.w_strides[0];
      T* to = out + b * g.out_strides[0];
      for (int64_t k = 0; k < g.m; k++)
        for (int64_t j = 0; j < g.p; j++) lines[k][j] = right[k * g.w_strides[1] + j * g.w_strides[2]];
      auto rows = [&]<int R>(std::integral_constant<int, R>, int64_t i) {
        Part sum[R][kParts] = {}, line[kParts];
        for (int64_t k = 0; k < g.m; k++) {
          std::memcpy(line, lines[k], sizeof line);
#pragma GCC unroll 4
          for (int r = 0; r < R; r++) {
            const T x = left[(i + r) * g.a_strides[1] + k * g.a_strides[2]];
#pragma GCC unroll 4
            for (int c = 0; c < kParts; c++) sum[r][c] += x * line[c];
          }
        }
        std::memcpy(sums, sum, sizeof sum);
        for (int r = 0; r < R; r++)
          for (int64_t j = 0; j < g.p; j++) to[(i + r) * g.out_strides[1] + j * g.out_strides[2]] = sums[r][j];
      };
      int64_t i = 0;
      for (; i + kRows <= g.n; i += kRows) rows(std::integral_constant<int, kRows>{}, i);
      for (; i < g.n; i++) rows(std::integral_constant<int, 1>{}, i);
    }
  });
}

/// The products of `g`, where is_small_product() holds; of the two orders the one with less to do.
template <class T> void small_products(const Gemm& g, const T* a, const T* w, T* out) {
  const int64_t across = line_of(g.p), down = line_of(g.n);
  if (!across || (down && g.p * down < g.n * across)) return small_products(turned(g), w, a, out);
  if (across == 4) small_lines<4>(g, a, w, out);
  else if (across == 8) small_lines<8>(g, a, w, out);
  else small_lines<16>(g, a, w, out);
}

}  // namespace WEIR_ISA
}  // namespace weir
