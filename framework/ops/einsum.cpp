#include "framework/ops/einsum.h"

#include <algorithm>
#include <map>

#include "framework/ops/create.h"
#include "framework/ops/functional.h"
#include "framework/ops/matmul.h"
#include "framework/ops/reduce.h"
#include "framework/ops/view.h"

namespace weir {
namespace {

constexpr int64_t kLetters = 52;  // the axes of an ellipsis are labels from here on, the last one first
using Labels = std::vector<int64_t>;

// A tensor whose axes have these labels.
struct Term {
  Tensor x;
  Labels labels;
};

bool has(const Labels& all, int64_t label) { return std::find(all.begin(), all.end(), label) != all.end(); }
int place(const Labels& all, int64_t label) { return int(std::find(all.begin(), all.end(), label) - all.begin()); }
std::string letter(int64_t label) { return label >= kLetters ? "..." : std::string(1, char(label < 26 ? 'A' + label : 'a' + label - 26)); }

// `part` with `count` labels for its ellipsis.
Labels expanded(const Labels& part, int count) {
  Labels r;
  bool seen = false;
  for (int64_t label : part) {
    if (label != kEllipsis) {
      r.push_back(label);
      continue;
    }
    check(!seen, "einsum(): found a second ellipsis in one operand");
    seen = true;
    for (int64_t k = count; k-- > 0;) r.push_back(kLetters + k);
  }
  return r;
}

// The equation: labels of each operand, and of the result.
struct Equation {
  std::vector<Labels> inputs;
  Labels output;
};
Equation parsed(const Places& labels, Inputs in) {
  std::vector<Labels> parts(1);
  bool arrow = false;
  for (int64_t label : labels) {
    check(label >= kArrow && label < kLetters, "einsum(): label ", label, " is none of 0 to 51");
    check(!arrow || (label != kNextOperand && label != kArrow), "einsum(): found another operand or arrow behind the arrow");
    arrow = arrow || label == kArrow;
    if (label == kNextOperand || label == kArrow) parts.emplace_back();
    else parts.back().push_back(label);
  }
  const size_t operands = parts.size() - arrow;
  check(operands == in.size(), "einsum(): ", in.size() > operands ? "more" : "fewer", " operands were provided than specified in the equation");
  Equation e;
  int widest = 0, times[kLetters] = {};
  for (size_t i = 0; i < operands; i++) {
    const bool open = has(parts[i], kEllipsis);
    const int extra = in[i].ndim() - int(parts[i].size()) + open;
    check(extra == 0 || (extra > 0 && open), "einsum(): the number of subscripts in the equation (", parts[i].size() - open,
          ") does not match the number of dimensions (", in[i].ndim(), ") for an operand", open ? "" : " and no ellipsis was given");
    if (open) widest = std::max(widest, extra);
    e.inputs.push_back(expanded(parts[i], extra));
    for (int64_t label : parts[i])
      if (label >= 0) times[label]++;
  }
  if (arrow) e.output = expanded(parts.back(), widest);
  else {
    e.output = expanded({kEllipsis}, widest);
    for (int64_t label = 0; label < kLetters; label++)
      if (times[label] == 1) e.output.push_back(label);
  }
  for (int64_t label : e.output) {
    check(std::count(e.output.begin(), e.output.end(), label) == 1, "einsum(): output subscript ", letter(label), " appears more than once in the output");
    check(label >= kLetters || times[label] > 0, "einsum(): output subscript ", letter(label), " does not appear in the equation for any input operand");
  }
  return e;
}

// A label that one operand repeats stands for its diagonal.
Term diagonals(Term t) {
  for (size_t i = 0; i < t.labels.size(); i++) {
    const int64_t label = t.labels[i];
    const size_t j = size_t(std::find(t.labels.begin() + i + 1, t.labels.end(), label) - t.labels.begin());
    if (j == t.labels.size()) continue;
    check(t.x.sizes()[int(i)] == t.x.sizes()[int(j)], "einsum(): subscript ", letter(label), " is repeated for an operand but the sizes don't match, ",
          t.x.sizes()[int(j)], " != ", t.x.sizes()[int(i)]);
    t.x = fn::diagonal(t.x, int64_t(0), int64_t(i), int64_t(j));
    t.labels.erase(t.labels.begin() + j);
    t.labels.erase(t.labels.begin() + i);
    t.labels.push_back(label);
    i = size_t(-1);  // from the start again
  }
  return t;
}

// Layouts are PyTorch's (Linear.cpp): axes stand in the order of the result, with those summed behind it, and of two operands the one
// whose axes come first gives the rows. Axes of size 1 take no part in a product.
class Contraction {
 public:
  Contraction(const std::vector<Term>& terms, const Equation& e) : order_(e.output) {
    for (const Term& t : terms)
      for (size_t i = 0; i < t.labels.size(); i++) {
        const int64_t size = t.x.sizes()[int(i)];
        int64_t& known = sizes_.emplace(t.labels[i], 1).first->second;
        check(size == 1 || known == 1 || known == size, "einsum(): operands do not broadcast with remapped shapes: subscript ", letter(t.labels[i]),
              " has sizes ", known, " and ", size);
        if (size != 1) known = size;
      }
    for (auto it = sizes_.rbegin(); it != sizes_.rend(); ++it)  // of an ellipsis the first axis has the highest label
      if (it->first >= kLetters && !has(e.output, it->first)) order_.push_back(it->first);
    for (const auto& [label, size] : sizes_)
      if (label < kLetters && !has(e.output, label)) order_.push_back(label);
  }

  /// The same with axes in order.
  Term sorted(const Term& t) const {
    Term r;
    Dims axes;
    for (int64_t label : order_)
      if (has(t.labels, label)) r.labels.push_back(label), axes.push(place(t.labels, label));
    r.x = axes.empty() ? t.x : fn::permute(t.x, axes);
    return r;
  }

  /// Without axes of size 1.
  static Term without_ones(const Term& t) {
    Dims ones;
    Labels left;
    for (size_t i = 0; i < t.labels.size(); i++) {
      if (t.x.sizes()[int(i)] == 1) ones.push(int64_t(i));
      else left.push_back(t.labels[i]);
    }
    return {ones.empty() ? t.x : fn::squeeze(t.x, ones), left};
  }

  /// Axes that neither `keep` nor `too` names are summed.
  static Term summed(const Term& t, const Labels& keep, const Labels& too = {}) {
    Dims axes;
    Labels left;
    for (size_t i = 0; i < t.labels.size(); i++) {
      if (has(keep, t.labels[i]) || has(too, t.labels[i])) left.push_back(t.labels[i]);
      else axes.push(int64_t(i));
    }
    return {axes.empty() ? t.x : fn::sum(t.x, axes), left};
  }

  /// Both as one tensor over the labels that `later` needs: their product, or one batched matrix product where something is summed.
  Term product(Term a, Term b, const Labels& later) const {
    a = summed(a, later, b.labels), b = summed(b, later, a.labels);
    const DType type = promote_types(a.x.dtype(), b.x.dtype());  // a sum of bytes is int64
    Labels all, batch, inner, rows, columns;
    bool swap = true, any_row = false, any_column = false;
    for (int64_t label : order_) {
      const bool left = has(a.labels, label), right = has(b.labels, label);
      if (left || right) all.push_back(label);
      if (left && right) {
        (has(later, label) ? batch : inner).push_back(label);
      } else if (left) {
        rows.push_back(label), any_row = true;
      } else {  // also what neither has
        if (right) columns.push_back(label);
        any_column = true, swap = swap && !any_row;
      }
    }
    if (inner.empty()) return {spread(a, all) * spread(b, all), all};
    if (swap && any_row && any_column) std::swap(a, b), std::swap(rows, columns);
    const Tensor left = matrices(a, type, batch, rows, inner), right = matrices(b, type, batch, inner, columns);
    Labels result = batch;
    for (const Labels* more : {&rows, &columns}) result.insert(result.end(), more->begin(), more->end());
    return sorted({fn::reshape(fn::matmul(left, right), sizes(result)), result});
  }

  /// With an axis of size 1 for each label that `t` lacks; those of `t` are in the same order.
  Tensor spread(const Term& t, const Labels& all) const {
    Tensor x = t.x;
    for (size_t i = 0; i < all.size(); i++)
      if (!has(t.labels, all[i])) x = fn::unsqueeze(x, int64_t(i));
    return x;
  }

 private:
  Dims sizes(const Labels& labels) const {
    Dims r;
    for (int64_t label : labels) r.push(sizes_.at(label));
    return r;
  }

  Tensor matrices(const Term& t, DType type, const Labels& batch, const Labels& rows, const Labels& columns) const {
    Dims axes, shape = sizes(batch);
    for (const Labels* part : {&batch, &rows, &columns})
      for (int64_t label : *part) axes.push(place(t.labels, label));
    shape.push(numel_of(sizes(rows)));
    shape.push(numel_of(sizes(columns)));
    return fn::reshape(fn::permute(cast_to(t.x, type), axes), shape);
  }

  Labels order_;
  std::map<int64_t, int64_t> sizes_;
};

}  // namespace

Tensor Einsum::compose(Inputs in) const {
  const Equation e = parsed(labels, in);
  std::vector<Term> terms;
  for (size_t i = 0; i < in.size(); i++) terms.push_back(diagonals({in[i], e.inputs[i]}));
  const Contraction contraction(terms, e);
  for (Term& t : terms) t = contraction.sorted(t);
  Term r = terms[0];
  if (terms.size() > 1)
    for (Term& t : terms) t = Contraction::without_ones(t);
  for (size_t i = 1; i < terms.size(); i++) {
    Labels later = e.output;
    for (size_t k = i + 1; k < terms.size(); k++) later.insert(later.end(), terms[k].labels.begin(), terms[k].labels.end());
    r = contraction.product(i == 1 ? terms[0] : r, terms[i], later);
  }
  const Tensor result = contraction.spread(Contraction::summed(r, e.output), e.output);
  return result == in[0] ? fn::view(result, result.sizes()) : result;  // never an operand itself
}

static const EinsumOps::Registration ops;

}  // namespace weir
