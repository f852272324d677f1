// Short lines put in order side by side, a line in each lane of a vector: no branch waits for a comparison.
#pragma once
#include <algorithm>
#include <array>

#include "framework/kernels/cpu/vec.h"

namespace weir {
namespace WEIR_ISA {

template <class T> class SortLanes {
 public:
  static constexpr int64_t kLines = Vec<T>::size, kLongest = 32;
  using Place = typename LaneInt<sizeof(T)>::type;

  /// Number i of all lines, which the caller writes before and reads after.
  T* numbers(int64_t i) { return numbers_ + i * kLines; }
  /// Where in its line number i stood.
  const Place* places(int64_t i) const { return places_ + i * kLines; }

  /// Brings the first `keep` numbers of the order to the front, of lines of n. NaN counts as the largest; equal numbers stay in the order they had.
  void order(int64_t n, int64_t keep, bool descending) {
    for (int64_t i = 0; i < n; i++) std::fill_n(places_ + i * kLines, kLines, Place(i));
    if (descending) select<true>(n, keep);
    else select<false>(n, keep);
  }
  /// -1 for each line in which two neighbours from number `first` to `last`, which are in order, are equal.
  std::array<Place, kLines> equal(int64_t first, int64_t last, bool descending) const {
    Mask<T> found{typename Mask<T>::V{}};
    for (int64_t i = first; i < last; i++) {
      const Vec<T> a = Vec<T>::load(numbers_ + i * kLines), b = Vec<T>::load(numbers_ + (i + 1) * kLines);
      found = found | !(descending ? is_behind(a, b) : is_behind(b, a));
    }
    return std::bit_cast<std::array<Place, kLines>>(found.v);
  }

 private:
  using V = typename Mask<T>::V;
  static Mask<T> is_behind(Vec<T> a, Vec<T> b) {
    if constexpr (kReal<T>) return (!(a <= b)) & (b == b);
    else return a > b;
  }
  // A bubble sort: only neighbours change places, and not where they are equal.
  template <bool kDescending> void select(int64_t n, int64_t keep) {
    for (int64_t done = 0; done < keep; done++) {
      Vec<T> best = Vec<T>::load(numbers_ + (n - 1) * kLines);
      V at = load(n - 1);
      for (int64_t i = n - 1; i-- > done;) {
        const Vec<T> x = Vec<T>::load(numbers_ + i * kLines);
        const V place = load(i);
        const V behind = (kDescending ? is_behind(best, x) : is_behind(x, best)).v;
        Vec<T>(behind ? x.v : best.v).store(numbers_ + (i + 1) * kLines);
        store(i + 1, behind ? place : at);
        best = behind ? best.v : x.v, at = behind ? at : place;
      }
      best.store(numbers_ + done * kLines), store(done, at);
    }
  }
  V load(int64_t i) const {
    V v;
    std::memcpy(&v, places_ + i * kLines, sizeof v);
    return v;
  }
  void store(int64_t i, V v) { std::memcpy(places_ + i * kLines, &v, sizeof v); }

  alignas(64) T numbers_[kLongest * kLines] = {};
  alignas(64) Place places_[kLongest * kLines];
};

}  // namespace WEIR_ISA
}  // namespace weir
