// Looking values up, and counting them by bins. Source of each: the PyTorch page of its name.
#pragma once
#include "framework/op/call.h"

namespace weir {

struct SearchSorted : Op {
  static constexpr Signature signature =
      "searchsorted(sorted_sequence: Tensor, input: Tensor | Number, *, out_int32: bool = False, right: bool = False, side: str | None = None, sorter: Tensor | None = None) -> Tensor";
  static constexpr auto doc = "Where input's elements would stand in the sorted last axis, before equal ones or, with right, behind them.";
  static constexpr Notation notation = "along last";
  static constexpr OutRule out{Out::exact};
  static constexpr GradientRule gradient{.exists = false};
  bool out_int32, right;
  std::optional<Str> side;
  static constexpr Fields fields{&SearchSorted::out_int32, &SearchSorted::right, &SearchSorted::side};
  Meta infer(Inputs in) const;
};

struct Bucketize : Op {
  static constexpr Signature signature =
      "bucketize(input: Tensor | Number, boundaries: Tensor, *, out_int32: bool = False, right: bool = False) -> Tensor";
  static constexpr auto doc = "The bucket of each element between sorted boundaries (1-d).";
  static constexpr Module module = Module::function;
  static constexpr OutRule out{.takes = Out::exact, .no_numbers = 0b1};
  bool out_int32, right;
  static constexpr Fields fields{&Bucketize::out_int32, &Bucketize::right};
  Tensor compose(Inputs in) const;
};

struct Isin : Op {
  static constexpr Signature signature =
      "isin(elements: Tensor | Number, test_elements: Tensor | Number, *, assume_unique: bool = False, invert: bool = False) -> Tensor";
  static constexpr auto doc = "Is each element among test_elements? Elements that assume_unique says are different may find each other.";
  static constexpr OutRule out{Out::exact};
  static constexpr GradientRule gradient{.exists = false};
  bool assume_unique, invert;
  static constexpr Fields fields{&Isin::assume_unique, &Isin::invert};
  void take_out(Inputs in, const Tensor& out) const;
  Meta infer(Inputs in) const;
};

struct Histc : Op {
  static constexpr Signature signature = "histc(input: Tensor, bins: int = 100, min: Number = 0, max: Number = 0) -> Tensor";
  static constexpr auto doc = "How many elements fall into each of `bins` equal bins from min to max, input's range where both are equal.";
  static constexpr Notation notation = "scatter";
  static constexpr OutRule out{Out::exact};
  static constexpr GradientRule gradient{.exists = false};
  int64_t bins;
  Scalar min, max;
  static constexpr Fields fields{&Histc::bins, &Histc::min, &Histc::max};
  Meta infer(Inputs in) const;
};

struct HistogramEdges : Op {
  static constexpr Signature signature = "histogram_edges(input: Tensor, bins: int, range: list[float] | None, dim: int) -> Tensor";
  static constexpr auto doc = "bins + 1 even edges from range[2 dim] to range[2 dim + 1], or over input's own range. Shape: (bins + 1).";
  static constexpr Module module = Module::hidden;  // it requires grad as its input does, and has no derivative
  int64_t bins;
  std::optional<Floats> range;
  int64_t dim;
  static constexpr Fields fields{&HistogramEdges::bins, &HistogramEdges::range, &HistogramEdges::dim};
  Meta infer(Inputs in) const;
};

struct HistogramCounts : Op {
  static constexpr Signature signature =
      "histogram_counts(input: Tensor, weight: Tensor | None, edges: list[Tensor], even: bool, density: bool) -> Tensor";
  static constexpr auto doc = "Points (N, D) counted, or their weights (N) summed, in the bins between edges, a vector per dim; the last bin holds its end.";
  static constexpr Notation notation = "scatter";
  static constexpr Module module = Module::hidden;  // as histogram_edges
  bool even, density;
  static constexpr Fields fields{&HistogramCounts::even, &HistogramCounts::density};
  Meta infer(Inputs in) const;
};

struct Histogram : Op {
  static constexpr Signature signature =
      "histogram(input: Tensor, bins: Tensor, *, weight: Tensor | None = None, density: bool = False) -> (hist: Tensor, bin_edges: Tensor)";
  static constexpr auto doc = "Counts of input's elements, or sums of their weights, in the bins between the given edges.";
  static constexpr OutRule out{Out::exact, OutHistory::dropped};
  bool density;
  static constexpr Fields fields{&Histogram::density};
  Tensors compose(Inputs in) const;
};

struct HistogramBins : Op {
  static constexpr Signature signature =
      "histogram.bin_ct(input: Tensor, bins: int = 100, *, range: list[float] | None = None, weight: Tensor | None = None, density: bool = False) -> (hist: Tensor, bin_edges: Tensor)";
  static constexpr auto doc = "Counts of input's elements, or sums of their weights, in `bins` even bins, and their edges.";
  static constexpr OutRule out{Out::exact, OutHistory::dropped};
  int64_t bins;
  std::optional<Floats> range;
  bool density;
  static constexpr Fields fields{&HistogramBins::bins, &HistogramBins::range, &HistogramBins::density};
  Tensors compose(Inputs in) const;
};

struct Histogramdd : Op {
  static constexpr Signature signature =
      "histogramdd(input: Tensor, bins: list[int], range: list[float] | None = None, weight: Tensor | None = None, density: bool = False) -> list[Tensor]";
  static constexpr auto doc = "Counts of points of D dims in a grid of even bins, then the edges of each dim.";
  static constexpr Module module = Module::hidden;
  Dims bins;
  std::optional<Floats> range;
  bool density;
  static constexpr Fields fields{&Histogramdd::bins, &Histogramdd::range, &Histogramdd::density};
  Tensors compose(Inputs in) const;
};

struct HistogramddEdges : Op {
  static constexpr Signature signature =
      "histogramdd_edges(input: Tensor, weight: Tensor | None, bins: list[Tensor], density: bool) -> list[Tensor]";
  static constexpr auto doc = "Counts of points of D dims in the grid between the given edges, then the edges.";
  static constexpr Module module = Module::hidden;
  bool density;
  static constexpr Fields fields{&HistogramddEdges::density};
  Tensors compose(Inputs in) const;
};

using SearchOps = OpList<SearchSorted, Bucketize, Isin, Histc, HistogramEdges, HistogramCounts, Histogram, HistogramBins, Histogramdd,
                         HistogramddEdges>;

namespace fn {
inline constexpr Fn<SearchSorted> searchsorted;
inline constexpr Fn<Bucketize> bucketize;
inline constexpr Fn<Isin> isin;
inline constexpr Fn<Histc> histc;
inline constexpr Fn<HistogramEdges> histogram_edges;
inline constexpr Fn<HistogramCounts> histogram_counts;
inline constexpr Fn<Histogram, HistogramBins> histogram;
inline constexpr Fn<Histogramdd> histogramdd;
inline constexpr Fn<HistogramddEdges> histogramdd_edges;
}  // namespace fn

}  // namespace weir
