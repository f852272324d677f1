// Lines of a tensor along an axis in order, or some of their numbers by rank, and where these stood: short lines side by side, others one by one.
#pragma once
#include <algorithm>
#include <numeric>

#include "framework/core/scratch.h"
#include "framework/kernels/cpu/casts.h"
#include "framework/kernels/cpu/ranked.h"
#include "framework/kernels/cpu/sort_lanes.h"
#include "framework/kernels/cpu/space.h"

namespace weir {
namespace WEIR_ISA {

template <class T> bool is_nan(T x) {
  if constexpr (std::is_floating_point_v<T>) return x != x;
  else return false;
}

// Hoare's selection with the median of three as pivot, so that of equal numbers the index is PyTorch's. Source: ATen/native/SortingUtils.h.
template <class T> void select_kth(Scratch<T>& v, Scratch<int64_t>& at, int64_t k) {
  auto above = [&](T a, T b) { return (is_nan(a) && !is_nan(b)) || a > b; };
  auto exchange = [&](int64_t i, int64_t j) { std::swap(v[i], v[j]), std::swap(at[i], at[j]); };
  for (int64_t low = 0, high = int64_t(v.size()) - 1; high > low;) {
    if (high == low + 1) {
      if (above(v[low], v[high])) exchange(low, high);
      return;
    }
    exchange(low + (high - low) / 2, low + 1);
    if (above(v[low + 1], v[high])) exchange(low + 1, high);
    if (above(v[low], v[high])) exchange(low, high);
    if (above(v[low + 1], v[low])) exchange(low + 1, low);
    int64_t i = low + 1, j = high;
    for (const T pivot = v[low];;) {
      do i++; while (above(pivot, v[i]));
      do j--; while (above(v[j], pivot));
      if (j < i) break;
      exchange(i, j);
    }
    exchange(low, j);
    if (j <= k) low = i;
    if (j >= k) high = j - 1;
  }
}

// Which numbers of a line are wanted: all in a stable order; the first in PyTorch's, or in any; the one of a rank.
enum class Order { stable, sorted, unsorted, kth };
struct Wanted {
  Order order;
  bool descending;
  int64_t n, first, count;  // of n numbers in order, as many from the first on
};

// The first `keep` of a line by PyTorch's own algorithm, so that of equal numbers the same are taken, in the same order. Source: ATen's TopKImpl.h.
template <class T> void select_first(const T* line, int64_t n, bool descending, bool ordered, Scratch<Ranked<T>>& first, int64_t keep) {
  if (keep == 0) return;
  constexpr int64_t kBlock = 16;
  const auto begin = first.begin();
  auto rank = [&](int64_t i) { return Ranked<T>(line[i], i, descending); };
  auto before = [](const Ranked<T>& a, const Ranked<T>& b) { return a.key < b.key; };
  if (keep * 64 > n) {
    for (int64_t i = 0; i < n; i++) first[i] = rank(i);
    std::nth_element(begin, begin + keep - 1, begin + n, before);
    if (ordered) std::sort(begin, begin + keep - 1, before);
    return;
  }
  // As std::partial_sort, which passes over all that does not come before the last of the best so far; here blocks at a time.
  for (int64_t i = 0; i < keep; i++) first[i] = rank(i);
  std::make_heap(begin, begin + keep, before);
  for (int64_t i = keep; i < n;) {
    const int64_t stop = std::min(i + kBlock, n);
    const T last = line[begin->index];
    int may_enter = stop - i < kBlock;
    if (!may_enter) for (int64_t k = i; k < i + kBlock; k++) may_enter |= !(descending ? line[k] <= last : line[k] >= last);  // NaN may
    for (; may_enter && i < stop; i++) {
      first[keep] = rank(i);
      if (before(first[keep], *begin)) std::pop_heap(begin, begin + keep + 1, before);  // takes the place of the last
    }
    i = stop;
  }
  std::sort_heap(begin, begin + keep, before);
}

// Finds them in one line.
template <class T> class LineSorter {
 public:
  explicit LineSorter(const Wanted& w) : w_(w), ranked_(w.n), other_(w.order == Order::stable ? w.n : 0) {}
  void run(const T* line, T* numbers, int64_t* places) {
    if (w_.order == Order::kth) return run_kth(line, numbers, places);
    if (w_.order == Order::stable) {
      for (int64_t i = 0; i < w_.n; i++) ranked_[i] = Ranked<T>(line[i], i, w_.descending);
      radix_sort(ranked_, other_);
    } else {
      select_first(line, w_.n, w_.descending, w_.order == Order::sorted, ranked_, w_.count);
    }
    for (int64_t i = 0; i < w_.count; i++) places[i] = ranked_[i].index, numbers[i] = line[ranked_[i].index];
  }

 private:
  void run_kth(const T* line, T* number, int64_t* place) {
    const int64_t k = w_.descending ? w_.n - 1 - w_.first : w_.first;
    copy_.assign(line, line + w_.n), at_.resize(w_.n);
    std::iota(at_.begin(), at_.end(), int64_t(0));
    select_kth(copy_, at_, k);
    *number = copy_[k], *place = at_[k];
  }
  const Wanted w_;
  Scratch<Ranked<T>> ranked_, other_;
  Scratch<T> copy_;
  Scratch<int64_t> at_;
};

// Finds them in all lines of `x` along axis d, which of the results, too, is an axis.
template <class T> class LinesSorter {
 public:
  LinesSorter(const Tensor& x, const Tensor& numbers, const Tensor& places, int d, const Wanted& w)
      : w_(w), read_(converter(x.dtype(), dtype_of<T>())), write_(converter(dtype_of<T>(), numbers.dtype())), as_it_is_(x.dtype() == dtype_of<T>()) {
    auto begins = [&](const Tensor& t) {
      Dims sizes = t.sizes();
      sizes[d] = 1;
      return alias(t, sizes, t.strides(), t->offset);
    };
    const Tensor others[] = {begins(places), begins(x)};
    space_ = make_space(others, begins(numbers));
    step_[kNumbers] = numbers.strides()[d], step_[kPlaces] = places.strides()[d], step_[kGiven] = x.strides()[d];
    for (int k = 0; k < 3; k++) apart_[k] = space_.ops[k].strides[space_.n - 1];
    lines_ = x.numel() / w.n;
  }

  void run() {
    const bool beside = w_.n <= Lanes::kLongest && w_.order != Order::unsorted;
    parallel_for(lines_, 2048 / w_.n, [&](int64_t b, int64_t e) {
      Lanes lanes;
      Room room(w_, step_[kPlaces] == 1 ? 1 : kHeld);
      for_runs(space_, b, e, [&](const int64_t* begin, int64_t count) {
        const int64_t most = beside && count >= kFewLines ? Lanes::kLines : room.lines;
        for (int64_t i = 0; i < count; i += most) {
          const Some some{{begin[0] + i * apart_[0], begin[1] + i * apart_[1], begin[2] + i * apart_[2]}, std::min(most, count - i)};
          if (beside && count >= kFewLines) side_by_side(some, lanes, room);
          else one_by_one(some, room);
        }
      });
    });
  }

 private:
  using Lanes = SortLanes<T>;
  enum { kNumbers, kPlaces, kGiven };
  static constexpr int64_t kHeld = 8;      // lines that are written together where their numbers lie apart: as many places fill a line of the cache
  static constexpr int64_t kFewLines = 4;  // fewer are sorted one by one
  struct Some { int64_t begin[3], count; };  // lines, evenly apart
  struct Room {
    int64_t lines;
    Scratch<T> line, numbers;
    Scratch<int64_t> places;
    LineSorter<T> sorter;
    Room(const Wanted& w, int64_t lines) : lines(lines), line(w.n), numbers(lines * w.count), places(lines * w.count), sorter(w) {}
  };

  const std::byte* given(int64_t at) const { return space_.ops[kGiven].data + at * int64_t(size_of(space_.ops[kGiven].dtype)); }
  std::byte* numbers(int64_t at) const { return space_.ops[kNumbers].data + at * int64_t(size_of(space_.ops[kNumbers].dtype)); }
  int64_t* places(int64_t at) const { return reinterpret_cast<int64_t*>(space_.ops[kPlaces].data) + at; }

  void one_by_one(const Some& s, Room& room) const {
    const int64_t n = w_.count;
    for (int64_t l = 0; l < s.count; l++) {
      const std::byte* from = given(s.begin[kGiven] + l * apart_[kGiven]);
      const bool dense = as_it_is_ && step_[kGiven] == 1;  // no copy of a line is needed
      if (!dense) read_(from, step_[kGiven], room.line.data(), 1, w_.n);
      room.sorter.run(dense ? reinterpret_cast<const T*>(from) : room.line.data(), &room.numbers[l * n],
                      room.lines == 1 ? places(s.begin[kPlaces]) : &room.places[l * n]);
    }
    if (room.lines == 1) return write_(room.numbers.data(), 1, numbers(s.begin[kNumbers]), step_[kNumbers], n);
    for (int64_t i = 0; i < n; i++) {
      write_(&room.numbers[i], n, numbers(s.begin[kNumbers] + i * step_[kNumbers]), apart_[kNumbers], s.count);
      int64_t* to = places(s.begin[kPlaces] + i * step_[kPlaces]);
      for (int64_t l = 0; l < s.count; l++) to[l * apart_[kPlaces]] = room.places[l * n + i];
    }
  }

  void side_by_side(const Some& s, Lanes& lanes, Room& room) const {
    const int64_t end = w_.first + w_.count, last = std::min(w_.n - 1, end);
    const bool stable = w_.order == Order::stable;
    for (int64_t i = 0; i < w_.n; i++) read_(given(s.begin[kGiven] + i * step_[kGiven]), apart_[kGiven], lanes.numbers(i), 1, s.count);
    lanes.order(w_.n, stable ? w_.n : last + 1, w_.descending);
    for (int64_t i = w_.first; i < end; i++) {
      write_(lanes.numbers(i), 1, numbers(s.begin[kNumbers] + (i - w_.first) * step_[kNumbers]), apart_[kNumbers], s.count);
      int64_t* to = places(s.begin[kPlaces] + (i - w_.first) * step_[kPlaces]);
      for (int64_t l = 0; l < s.count; l++) to[l * apart_[kPlaces]] = lanes.places(i)[l];
    }
    if (stable) return;
    // Of equal numbers PyTorch takes others.
    const auto equal = lanes.equal(std::max<int64_t>(w_.first - 1, 0), last, w_.descending);
    for (int64_t l = 0; l < s.count; l++)
      if (equal[l]) one_by_one(Some{{s.begin[0] + l * apart_[0], s.begin[1] + l * apart_[1], s.begin[2] + l * apart_[2]}, 1}, room);
  }

  const Wanted w_;
  const Converter read_, write_;
  const bool as_it_is_;
  Space space_;
  int64_t step_[3], apart_[3], lines_;
};

}  // namespace WEIR_ISA
}  // namespace weir
