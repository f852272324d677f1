// Systems of a small triangle, one right-hand side to a lane: OpenBLAS's own routine for AVX-512 has a thirtieth of the speed of its products there.
#pragma once
#include <algorithm>
#include <type_traits>

#include "framework/kernels/cpu/registers.h"
#include "framework/kernels/cpu/transpose.h"
#include "framework/kernels/cpu/vec_math.h"

namespace weir {
namespace WEIR_ISA {

/// A triangle of up to kOrder unknowns in the order in which they become known; missing ones stand for themselves.
template <class T> class LaneTriangle {
 public:
  static constexpr int kOrder = 16;

  /// Of `order` unknowns, the first of which is solved first if `forward`. What one of them adds to the equation of another stands at
  /// a[known * known_step + other * other_step]; a `unit` triangle's diagonal is not read.
  LaneTriangle(const T* a, int order, bool forward, bool unit, int64_t known_step, int64_t other_step) : order_(order), forward_(forward), unit_(unit) {
    for (int i = 0; i < kOrder; i++)
      for (int k = 0; k < kOrder; k++)
        if (i < order && k < order && (k > i || (k == i && !unit))) by_[i][k] = a[place(i) * known_step + place(k) * other_step];
        else by_[i][k] = T(i == k);
  }

  /// Solves `lines` systems in place, unknowns `step` apart, of which the next one's lie `line` further on. Either is 1.
  void solve(T* x, int64_t lines, int64_t step, int64_t line) const {
    for (int64_t g = 0; g < lines; g += w) {
      const int count = int(std::min<int64_t>(w, lines - g));
      T* from = x + g * line;
      V v[kOrder];
      alignas(V) T square[kOrder * w];
      const bool turns = line != 1;
      if (turns) turn(from, line, count, square);
      for (int i = 0; i < kOrder; i++) v[i] = i >= order_ ? V(T(0)) : turns ? V::load(square + place(i) * w) : load(from + place(i) * step, count);
      substitute(v);
      for (int i = 0; i < order_; i++) {
        if (turns) v[i].store(square + place(i) * w);
        else store(v[i], from + place(i) * step, count);
      }
      if (turns) turn_back(square, from, line, count);
    }
  }

 private:
  using V = Vec<T>;
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  static constexpr int w = V::size;
  int64_t place(int i) const { return forward_ ? i : order_ - 1 - i; }

  void substitute(V (&v)[kOrder]) const {
#pragma GCC unroll 16
    for (int i = 0; i < kOrder; i++) {
      if (!unit_) v[i] = v[i] / V(by_[i][i]);
#pragma GCC unroll 16
      for (int k = i + 1; k < kOrder; k++) v[k] = lanes::fma(-V(by_[i][k]), v[i], v[k]);
    }
  }
  void turn(const T* from, int64_t line, int count, T* square) const {
    if (count == w && order_ >= w) return turn_by<w>(reinterpret_cast<const Bits*>(from), line, reinterpret_cast<Bits*>(square), w, w, order_);
    for (int i = 0; i < order_; i++)
      for (int c = 0; c < w; c++) square[i * w + c] = c < count ? from[c * line + i] : T(0);
  }
  void turn_back(const T* square, T* to, int64_t line, int count) const {
    if (count == w && order_ >= w) return turn_by<w>(reinterpret_cast<const Bits*>(square), w, reinterpret_cast<Bits*>(to), line, order_, w);
    for (int i = 0; i < order_; i++)
      for (int c = 0; c < count; c++) to[c * line + i] = square[i * w + c];
  }

  T by_[kOrder][kOrder];
  int order_;
  bool forward_, unit_;
};

}  // namespace WEIR_ISA
}  // namespace weir
