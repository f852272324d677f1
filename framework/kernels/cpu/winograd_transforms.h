// What minimal filtering of 3 places does to the numbers of one line, a register of channels at once: M results from a tile of M + 2 places, whose points are
// multiplied each with that of the weights. Of squares, lines down and lines across are taken one after the other.
//
// Source: Lavin and Gray, Fast Algorithms for Convolutional Neural Networks, https://arxiv.org/abs/1509.09308. The points are 0, 1, -1 and what is
// infinite; of four results also 2 and -2.
#pragma once
#include "framework/kernels/cpu/vec.h"

namespace weir {
namespace WEIR_ISA {
namespace winograd {

using V = Vec<float>::V;

[[gnu::always_inline]] inline V every(float x) { return Vec<float>(x).v; }
[[gnu::always_inline]] inline V fma(V a, V b, V c) { return lanes::fma(a, b, c).v; }  // the compiler may not join them
[[gnu::always_inline]] inline V fma(float a, V b, V c) { return fma(every(a), b, c); }

/// `f` of the columns of an N x N square, then of the rows of what that gives: M numbers of N each time. The square is what get(place) gives.
template <int N, int M, class Get, class Put, class F> [[gnu::always_inline]] inline void both_ways(Get&& get, Put&& put, F&& f) {
  V half[M * N], line[M];
#pragma GCC unroll 6
  for (int j = 0; j < N; j++) {
    V column[N];
#pragma GCC unroll 6
    for (int i = 0; i < N; i++) column[i] = get(i * N + j);
    f(column, line);
#pragma GCC unroll 6
    for (int i = 0; i < M; i++) half[i * N + j] = line[i];
  }
#pragma GCC unroll 6
  for (int i = 0; i < M; i++) {
    f(half + i * N, line);
#pragma GCC unroll 6
    for (int j = 0; j < M; j++) put(i * M + j, line[j]);
  }
}

template <int M> struct Transforms;

template <> struct Transforms<2> {
  struct OfInput {
    [[gnu::always_inline]] void operator()(const V* d, V* to) const {
      to[0] = d[0] - d[2], to[1] = d[1] + d[2], to[2] = d[2] - d[1], to[3] = d[1] - d[3];
    }
  };
  struct OfWeights {
    [[gnu::always_inline]] void operator()(const V* g, V* to) const {
      const V half = every(0.5f), ends = (g[0] + g[2]) * half, middle = g[1] * half;
      to[0] = g[0], to[1] = ends + middle, to[2] = ends - middle, to[3] = g[2];
    }
  };
  struct ToResult {
    [[gnu::always_inline]] void operator()(const V* m, V* to) const { to[0] = m[0] + m[1] + m[2], to[1] = m[1] - m[2] - m[3]; }
  };
  struct OfGradient {  // of the results, beside an input's tile
    [[gnu::always_inline]] void operator()(const V* g, V* to) const {
      const V half = every(0.5f);
      to[0] = g[0], to[1] = (g[0] + g[1]) * half, to[2] = (g[0] - g[1]) * half, to[3] = g[1];
    }
  };
  struct ToWeights {
    [[gnu::always_inline]] void operator()(const V* m, V* to) const { to[0] = m[0] + m[1] + m[2], to[1] = m[1] - m[2], to[2] = m[1] + m[2] - m[3]; }
  };
};

template <> struct Transforms<4> {
  struct OfInput {
    [[gnu::always_inline]] void operator()(const V* d, V* to) const {
      const V even = fma(-4, d[2], d[4]), odd = fma(-4, d[1], d[3]), even2 = d[4] - d[2], odd2 = d[3] - d[1];
      to[0] = fma(4, d[0], fma(-5, d[2], d[4])), to[1] = even + odd, to[2] = even - odd;
      to[3] = fma(2, odd2, even2), to[4] = fma(-2, odd2, even2), to[5] = fma(4, d[1], fma(-5, d[3], d[5]));
    }
  };
  struct OfWeights {
    [[gnu::always_inline]] void operator()(const V* g, V* to) const {
      const V sixth = every(1.f / 6), ends = (g[0] + g[2]) * -sixth, middle = g[1] * sixth;
      const V ends2 = fma(1.f / 24, g[0], g[2] * sixth), middle2 = g[1] * every(1.f / 12);
      to[0] = g[0] * every(0.25f), to[1] = ends - middle, to[2] = ends + middle, to[3] = ends2 + middle2, to[4] = ends2 - middle2, to[5] = g[2];
    }
  };
  struct ToResult {
    [[gnu::always_inline]] void operator()(const V* m, V* to) const {
      const V sum = m[1] + m[2], sum2 = m[3] + m[4], off = m[1] - m[2], off2 = m[3] - m[4];
      to[0] = m[0] + sum + sum2, to[1] = fma(2, off2, off), to[2] = fma(4, sum2, sum), to[3] = fma(8, off2, off) + m[5];
    }
  };
  struct OfGradient {
    [[gnu::always_inline]] void operator()(const V* g, V* to) const {
      const V sixth = every(1.f / 6), even = (g[0] + g[2]) * -sixth, odd = (g[1] + g[3]) * sixth;
      const V even2 = fma(1.f / 24, g[0], g[2] * sixth), odd2 = fma(1.f / 3, g[3], g[1] * every(1.f / 12));
      to[0] = g[0] * every(0.25f), to[1] = even - odd, to[2] = even + odd, to[3] = even2 + odd2, to[4] = even2 - odd2, to[5] = g[3];
    }
  };
  struct ToWeights {
    [[gnu::always_inline]] void operator()(const V* m, V* to) const {
      const V sum = m[1] + m[2], sum2 = m[3] + m[4];
      to[0] = m[0] + sum + sum2, to[1] = fma(2, m[3] - m[4], m[1] - m[2]), to[2] = fma(4, sum2, sum) + m[5];
    }
  };
};

}  // namespace winograd
}  // namespace WEIR_ISA
}  // namespace weir
