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

/// Lines of P numbers, of which g.p are there: all of them where `kFull`, which are then read and written as vectors where they lie side by side.
template <int P, bool kFull, class T> void small_lines(const Gemm& g, const T* a, const T* w, T* out) {
  constexpr int kPart = std::min<int>(P, kVecBytes / sizeof(T)), kParts = P / kPart, kRows = kParts <= 2 ? 4 : 2;  // sums stay in registers
  using Part [[gnu::vector_size(kPart * sizeof(T))]] = T;
  const bool dense_w = kFull && g.w_strides[2] == 1, dense_out = kFull && g.out_strides[2] == 1;
  parallel_for(g.batch, kGrain * 4 / (g.n * g.m * P), [&](int64_t begin, int64_t end) {
    Part lines[kDeepest][kParts] = {};  // of w, with zeros behind
    for (int64_t b = begin; b < end; b++) {
      const T *left = a + b * g.a_strides[0], *right = w + b * g.w_strides[0];
      T* to = out + b * g.out_strides[0];
      for (int64_t k = 0; k < g.m && !dense_w; k++) {
        const T* line = right + k * g.w_strides[1];
        // Whole vectors are stored, since what is read as one soon after would wait for single numbers.
        for (int c = 0; c < kParts; c++) {
          Part part = {};
#pragma GCC unroll 16
          for (int j = 0; j < kPart; j++)
            if (kFull || c * kPart + j < g.p) part[j] = line[(c * kPart + j) * g.w_strides[2]];
          lines[k][c] = part;
        }
      }
      const T* first = dense_w ? right : reinterpret_cast<const T*>(lines);
      const int64_t step = dense_w ? g.w_strides[1] : P;
      auto rows = [&]<int R>(std::integral_constant<int, R>, int64_t i) {
        Part sum[R][kParts] = {}, line[kParts];
        for (int64_t k = 0; k < g.m; k++) {
#pragma GCC unroll 4
          for (int c = 0; c < kParts; c++) std::memcpy(&line[c], first + k * step + c * kPart, sizeof(Part));
#pragma GCC unroll 4
          for (int r = 0; r < R; r++) {
            const T x = left[(i + r) * g.a_strides[1] + k * g.a_strides[2]];
#pragma GCC unroll 4
            for (int c = 0; c < kParts; c++) sum[r][c] += x * line[c];
          }
        }
        for (int r = 0; r < R; r++) {
          T* row = to + (i + r) * g.out_strides[1];
          if (dense_out) {
            for (int c = 0; c < kParts; c++) std::memcpy(row + c * kPart, &sum[r][c], sizeof(Part));
            continue;
          }
#pragma GCC unroll 16
          for (int j = 0; j < P; j++)
            if (kFull || j < g.p) row[j * g.out_strides[2]] = sum[r][j / kPart][j % kPart];
        }
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
  auto of = [&]<int P>(std::integral_constant<int, P>) { g.p == P ? small_lines<P, true>(g, a, w, out) : small_lines<P, false>(g, a, w, out); };
  if (across == 4) of(std::integral_constant<int, 4>{});
  else if (across == 8) of(std::integral_constant<int, 8>{});
  else of(std::integral_constant<int, 16>{});
}

}  // namespace WEIR_ISA
}  // namespace weir
