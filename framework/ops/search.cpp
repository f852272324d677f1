#include "framework/ops/search.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "framework/core/warn.h"
#include "framework/op/autocast.h"
#include "framework/op/out.h"
#include "framework/ops/check.h"
#include "framework/ops/create.h"
#include "framework/ops/pointwise.h"
#include "framework/ops/reduce.h"
#include "framework/ops/view.h"

namespace weir {
namespace {

Dims without_last(Dims d) {
  d.n--;
  return d;
}

void check_searchable(const Tensor& edges, const Tensor& x) {
  const char* op = "torch.searchsorted(): ";
  check(x.ndim() || edges.ndim() == 1, op, "input value can be a scalar only when boundaries tensor dimension is 1, but we got boundaries "
        "tensor dim(", edges.ndim(), ") and input value's dim(0) numel(1)");
  check(edges.ndim() > 0, op, "boundaries tensor should have positive dimension, but got 0 dimension");
  check(edges.ndim() == 1 || (edges.ndim() == x.ndim() && without_last(edges.sizes()) == without_last(x.sizes())), op,
        "boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries tensor and input value tensor must match, but "
        "we got boundaries tensor ", edges.sizes(), " and input value tensor ", x.sizes());
}

// PyTorch looks for the ends of halves nowhere but in a range that is given, or where there are none.
void check_loop(const Tensor& x, bool ends_known) {
  const bool wide = x.dtype() == DType::float32 || x.dtype() == DType::float64;
  check<NotImplemented>(wide || (is_reduced(x.dtype()) && (ends_known || x.numel() == 0)), "\"histogramdd\" not implemented for '", name_of(x.dtype()), "'");
}

// Source of the order of checks: PyTorch's histogramdd.
void check_points(const Tensor& x, const Tensor& weight, Inputs edges) {
  const char* op = "torch.histogramdd: ";
  check(x.ndim() >= 2, op, "input tensor should have at least 2 dimensions");
  check_loop(x, true);
  check(int64_t(edges.size()) == x.size(-1), "histogramdd: The size of bins must be equal to the innermost dimension of the input.");
  for (size_t d = 0; d < edges.size(); d++) {
    const Tensor& e = edges[d];
    check(e.dtype() == x.dtype(), op, "input tensor and bins tensors should have the same dtype, but got input with dtype ", name_of(x.dtype()),
          " and bins for dimension ", d, " with dtype ", name_of(e.dtype()));
    check(e.ndim() == 1, op, "bins tensor should have one dimension, but got ", e.ndim(), " dimensions in the bins tensor for dimension ", d);
    check(e.numel() > 0, op, "bins tensor should have at least 1 element, but got 0 elements in the bins tensor for dimension ", d);
    check(e.numel() > 1, "torch.histogram(): bins must be > 0, but got 0 for dimension ", d);
  }
  if (!weight) return;
  check(weight.dtype() == x.dtype(), op, "if weight tensor is provided, input tensor and weight tensor should have the same dtype, but got "
        "input(", name_of(x.dtype()), "), and weight(", name_of(weight.dtype()), ")");
  check(weight.sizes() == without_last(x.sizes()), op, "if weight tensor is provided it should have the same shape as the input tensor "
        "excluding its innermost dimension, but got input with shape ", x.sizes(), ", and weight with shape ", weight.sizes());
}

Tensors histogram_of(const Tensor& given, const Tensor& weight, Tensors edges, bool even, bool density, bool given_back = false) {
  check_points(given, weight, edges);
  Dims lead = without_last(given.sizes());
  Tensor points = fn::reshape(given, Dims{lead.product(), given.size(-1)});
  Tensors in{points, weight ? fn::reshape(weight, Dims{-1}) : weight};
  in.insert(in.end(), edges.begin(), edges.end());
  for (Tensor& t : in) t = in_single(t);
  Tensors r{cast_to(fn::histogram_counts.over(in, even, density)[0], given.dtype())};
  // All results require grad where one argument does, and have no derivative; but for lists of edges, which are given back themselves.
  Tensors sources{given};
  if (weight) sources.push_back(weight);
  sources.insert(sources.end(), edges.begin(), edges.end());
  const bool recorded = !given_back && std::any_of(sources.begin(), sources.end(), is_differentiated);
  for (const Tensor& e : edges) r.push_back(recorded ? fn::underived(detach(e), sources, Str("histogram")) : e);
  return r;
}

Tensors even_histogram(const Tensor& x, const Tensor& weight, const Dims& bins, const std::optional<Floats>& range, bool density) {
  check(x.ndim() >= 2, "torch.histogramdd: input tensor should have at least 2 dimensions");
  check_loop(x, bool(range));
  check(bins.n == x.size(-1), "histogramdd: The size of bins must be equal to the innermost dimension of the input.");
  check(!range || range->n == 2 * bins.n, "torch.histogramdd: for a ", bins.n, "-dimensional histogram range should have ", 2 * bins.n,
        " elements, but got ", range ? range->n : 0);
  Tensors edges;
  for (int d = 0; d < bins.n; d++)
    edges.push_back(fn::histogram_edges(fn::select(x, int64_t(-1), int64_t(d)), bins[d], range, int64_t(d)));
  return histogram_of(x, weight, edges, true, density);
}

Tensor as_points(const Tensor& t) { return fn::reshape(t, Dims{t.numel(), 1}); }
Tensor as_line(const Tensor& t) { return t ? fn::reshape(t, Dims{-1}) : t; }

}  // namespace

Meta SearchSorted::infer(Inputs in) const {
  const Tensor &edges = in[0], &x = in[1], &sorter = in[2];
  const char* op = "torch.searchsorted(): ";
  check(!side || *side == "left" || *side == "right", op, "side can only be 'left' or 'right' but got ", side ? side->view() : "");
  check(!side || !right || *side == "right", op, "side and right can't be set to opposites, got side of left while right was True");
  check(!sorter || sorter.sizes() == edges.sizes(), op, "boundary and sorter must have the same size, but got boundary tensor ", edges.sizes(),
        " and got sorter tensor ", sorter ? sorter.sizes() : Dims());
  check(!sorter || sorter.dtype() == DType::int64, op, "sorter must be a tensor of long dtype but got dtype ", sorter ? name_of(sorter.dtype()) : "");
  check_searchable(edges, x);
  constexpr const char* names[] = {"boundary", "input value", "sorter"};
  for (size_t i = 0; i < in.size(); i++)
    if (x.numel() && in[i] && !in[i].is_contiguous()) warn_once(str(op, names[i], " tensor is non-contiguous, this will lower the performance due to extra data copy when converting non-contiguous tensor to contiguous"));
  DType t = result_type(std::array{edges, x});
  check<NotImplemented>(x.numel() == 0 || (!is_complex(t) && t != DType::boolean), "\"searchsorted_out_cpu\" not implemented for '", name_of(t), "'");
  check(!out_int32 || edges.sizes().back() < std::numeric_limits<int32_t>::max(), op, "the size of boundaries' last dimension should be "
        "less than ", std::numeric_limits<int32_t>::max(), ", but we got ", edges.sizes().back());
  return {x.sizes(), out_int32 ? DType::int32 : DType::int64, edges.device()};
}

Tensor Bucketize::compose(Inputs in) const {
  check(in[1].ndim() == 1, "boundaries tensor must be 1 dimension, but got dim(", in[1].ndim(), ")");
  return fn::searchsorted(in[1], in[0], out_int32, right);
}

Meta Isin::infer(Inputs in) const {
  for (const Tensor& t : in)
    check(!is_complex(t.dtype()) && t.dtype() != DType::boolean, "Unsupported input type encountered for isin(): ", name_of(t.dtype()));
  // Source: PyTorch, which compares with each of a few numbers, laid in a row, and sorts many beside the elements.
  const int64_t few = int64_t(10.0f * std::pow(double(in[0].numel()), 0.145));
  if (in[0].numel() == 0 || in[1].numel() == 0 || in[1].ndim() == 0) return {in[0].sizes(), DType::boolean, in[0].device()};
  if (in[1].numel() >= few) {
    check_joinable("isin", in[0].dtype());
    if (in[0].dtype() != DType::float32 || in[0].has_flag(kWrappedNumber)) check_joinable("isin", in[1].dtype());  // beside float32 it would be widened
  } else if (in[1].dtype() == result_type(in))
    check(bool(view_strides(in[1], Dims{in[1].numel()})), "isin: view size is not compatible with test_elements of size ", in[1].sizes(), " and strides ", in[1].strides());
  return {in[0].sizes(), DType::boolean, in[0].device()};
}

// Source: PyTorch, which looks for a number as a tensor of one axis.
void Isin::take_out(Inputs in, const Tensor& out) const {
  if (in[0].has_flag(kWrappedNumber) && out.ndim() == 0) warn_of_resize(out.sizes(), Dims{1});
}

Meta Histc::infer(Inputs in) const {
  check(bins > 0, "torch.histogram(): bins must be > 0, but got ", bins, " for dimension 0");
  double low = min.to_double(), high = max.to_double();
  check(low == high || (std::isfinite(low) && std::isfinite(high)), "torch.histc: range of [", low, ", ", high, "] is not finite");
  check(low <= high, "torch.histc: max must be larger than min");
  check<NotImplemented>(is_floating(in[0].dtype()), "\"histogram_cpu\" not implemented for '", name_of(in[0].dtype()), "'");
  return {Dims{bins}, in[0].dtype(), in[0].device()};
}

Meta HistogramEdges::infer(Inputs in) const {
  check(bins > 0, "torch.histogram(): bins must be > 0, but got ", bins, " for dimension ", dim);
  return {Dims{checked_add(bins, 1)}, in[0].dtype(), in[0].device()};
}

Meta HistogramCounts::infer(Inputs in) const {
  Dims sizes;
  for (const Tensor& e : in.subspan(2)) sizes.push(e.numel() - 1);
  return {sizes, in[0].dtype(), in[0].device()};
}

Tensors Histogram::compose(Inputs in) const { return histogram_of(as_points(in[0]), as_line(in[2]), {fn::clone(in[1], MemoryFormat::contiguous)}, false, density); }
Tensors HistogramBins::compose(Inputs in) const {
  return even_histogram(as_points(in[0]), as_line(in[1]), Dims{bins}, range, density);
}
Tensors Histogramdd::compose(Inputs in) const { return even_histogram(in[0], in[1], bins, range, density); }
Tensors HistogramddEdges::compose(Inputs in) const {
  return histogram_of(in[0], in[1], Tensors(in.begin() + 2, in.end()), false, density, true);
}

static const SearchOps::Registration ops;

}  // namespace weir
