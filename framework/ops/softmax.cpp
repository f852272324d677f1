#include "framework/ops/softmax.h"

#include "framework/ops/attention.h"

#include <cmath>

#include "framework/core/warn.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/compare.h"
#include "framework/ops/create.h"
#include "framework/ops/linalg.h"
#include "framework/ops/matmul.h"
#include "framework/ops/random.h"
#include "framework/ops/reduce.h"
#include "framework/ops/unary.h"
#include "framework/ops/view.h"

namespace weir {
using namespace fn;

namespace {

Meta along(const char* op, const Tensor& x, int64_t dim, std::optional<DType> dtype) {
  wrap_dim(dim, x.ndim(), op);
  DType t = dtype.value_or(x.dtype());
  warn_of_lost_parts(x.dtype(), t, x.numel());
  // Of nothing PyTorch makes any dtype. Whole numbers, which it casts to before, have no history there, but would have here.
  const bool nothing = x.numel() == 0 && (is_inexact(t) || !(is_complex(x.dtype()) || is_differentiated(x)));
  check<NotImplemented>(nothing || is_floating(t), "\"", op, "_lastdim_kernel_impl\" not implemented for '", name_of(t), "'");
  return {x.sizes(), t, x.device()};
}

}  // namespace

Meta Softmax::infer(Inputs in) const { return along("softmax", in[0], dim, dtype); }
Tensors Softmax::vjp(const Saved& s, const Tensor& dy) const { return {fn::softmax_backward(dy, s.output(), dim)}; }
Meta SoftmaxBackward::infer(Inputs in) const { return {in[1].sizes(), in[1].dtype(), in[1].device()}; }
Tensors SoftmaxBackward::vjp(const Saved& s, const Tensor& d) const {
  Tensor dy = s.input(0), y = s.input(1);
  Tensor inner = sum(y * dy, Dims{dim}, true), dot = sum(d * y, Dims{dim}, true);
  return {fn::softmax_backward(d, y, dim), d * (dy - inner) - dot * dy};
}

Meta LogSoftmax::infer(Inputs in) const { return along("log_softmax", in[0], dim, dtype); }
Tensors LogSoftmax::vjp(const Saved& s, const Tensor& dy) const { return {fn::log_softmax_backward(dy, s.output(), dim)}; }
Meta LogSoftmaxBackward::infer(Inputs in) const { return {in[1].sizes(), in[1].dtype(), in[1].device()}; }
Tensors LogSoftmaxBackward::vjp(const Saved& s, const Tensor& d) const {
  Tensor dy = s.input(0), p = exp(s.input(1));
  return {d - sum(d * p, Dims{dim}, true), -(d * p * sum(dy, Dims{dim}, true))};
}

// Whether -infinity would have to be made of whole numbers to hide what a mask leaves out.
static bool hides_whole_numbers(const Tensor& q, const Tensor& mask) {
  return mask && mask.dtype() == DType::boolean && !is_inexact(q.dtype()) && q.dtype() != DType::boolean;
}

// Whether a kernel that keeps no scores serves the call. Source of the rules: PyTorch's choice of its flash kernel.
static bool passes_blockwise(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask, bool grouped, double dropout_p) {
  auto four = [](const Tensor& t) { return t.ndim() == 4; };
  if (!four(q) || !four(k) || !four(v) || dropout_p > 0) return false;
  if (!is_floating(q.dtype()) || q.dtype() == DType::float64) return false;
  if (q.sizes()[3] != k.sizes()[3] || k.sizes()[2] != v.sizes()[2] || k.sizes()[1] != v.sizes()[1]) return false;
  if (q.sizes()[0] != k.sizes()[0] || q.sizes()[0] != v.sizes()[0]) return false;
  if (grouped ? k.sizes()[1] == 0 || q.sizes()[1] % k.sizes()[1] != 0 : q.sizes()[1] != k.sizes()[1]) return false;
  if (!mask) return true;
  if (mask.ndim() > 4 || is_differentiated(mask)) return false;
  const int64_t scores[4] = {q.sizes()[0], q.sizes()[1], q.sizes()[2], k.sizes()[2]};
  for (int i = 1; i <= mask.ndim(); i++)
    if (mask.sizes()[mask.ndim() - i] != 1 && mask.sizes()[mask.ndim() - i] != scores[4 - i]) return false;
  return true;
}

static void check_groups(const char* op, const Tensor& q, const Tensor& k, const Tensor& v) {
  const int64_t heads = q.size(-3);
  check(heads % k.size(-3) == 0 && heads % v.size(-3) == 0, op, ": Number of heads in key and value must divide the number of heads in query, got ", k.size(-3), ", ",
        v.size(-3), " and ", heads);
}

Tensor ScaledDotProductAttention::compose(Inputs in) const {
  Tensor q = in[0], k = in[1], v = in[2], mask = in[3];
  const char* op = "scaled_dot_product_attention";
  check(q.ndim() >= 2 && k.ndim() >= 2 && v.ndim() >= 2, op, ": Expected query, key, and value to all be at least 2 dimensional, but got ",
        q.ndim(), ", ", k.ndim(), ", ", v.ndim());
  check(q.dtype() == k.dtype() && q.dtype() == v.dtype(), op, ": Expected query, key, and value to have the same dtype, but got ",
        name_of(q.dtype()), ", ", name_of(k.dtype()), " and ", name_of(v.dtype()));
  check(!mask || mask.dtype() == DType::boolean || mask.dtype() == DType::float32 || mask.dtype() == q.dtype(), op,
        ": Expected attn_mask dtype to be bool or float or to match query dtype, but got attn_mask.dtype: ",
        mask ? name_of(mask.dtype()) : "", " and query.dtype: ", name_of(q.dtype()), " instead.");
  Dims sizes = q.sizes();
  sizes[q.ndim() - 1] = v.size(-1);
  if (sizes.product() == 0 || v.numel() == 0) {
    // Source: PyTorch, which looks at nothing where there are no queries or no values, else at the batches. The products give every input a gradient, of zeros.
    if (q.size(-2) && v.numel()) {
      check(!hides_whole_numbers(q, mask), op, ": value cannot be converted to type ", name_of(q.dtype()), " without overflow");
      check(!mask || !is_causal, op, ": Explicit attn_mask should not be set when is_causal=True");
      if (!enable_gqa) broadcast(op, broadcast(op, batch_of(q), batch_of(k)), batch_of(v));
      else if (q.ndim() > 2 && k.ndim() > 2 && v.ndim() > 2 && k.size(-3) && v.size(-3)) check_groups(op, q, k, v);
      check(!is_complex(q.dtype()), op, ": isneginf does not support complex inputs");
    }
    Tensor zeros = zeros_of(Meta(sizes, q.dtype(), q.device()));
    const bool sums = !q.size(-2) || !v.numel() || mode.autocast;  // which make whole numbers of truths
    for (const Tensor& t : {q, k, v})
      if (sums || is_differentiated(t)) zeros = zeros + sum(t) * num(int64_t(0));
    return zeros;
  }
  const bool blockwise = passes_blockwise(q, k, v, mask, enable_gqa, dropout_p);
  auto by_ones = [](const Tensor& t) { return t.strides()[t.ndim() - 1] == 1; };
  const bool flash = blockwise && q.size(-1) == v.size(-1) && by_ones(q) && by_ones(k) && by_ones(v);  // PyTorch's
  check<IndexError>(!mask || q.ndim() != 4 || mask.ndim() > 1 || is_differentiated(mask), op, ": attn_mask of a 4-d query must have at least 2 dimensions");
  if (enable_gqa) {
    check<IndexError>(q.ndim() >= 3 && k.ndim() >= 3 && v.ndim() >= 3, op, ": expected query, key and value with an axis of heads for enable_gqa, got ", q.sizes(), ", ",
                      k.sizes(), " and ", v.sizes());
    check(k.size(-3) > 0 && v.size(-3) > 0, op, ": expected key and value with heads for enable_gqa, got ", k.sizes(), " and ", v.sizes());
    check_groups(op, q, k, v);
  }
  double factor = scale ? *scale : 1 / std::sqrt(double(q.size(-1)));
  check(!(mask.defined() && is_causal) || flash, op, ": Explicit attn_mask should not be set when is_causal=True");
  if (blockwise) {
    Tensor added = mask && mask.dtype() == DType::boolean ? where(mask, full_of(Meta(Dims{}, DType::float32), Scalar(0.0)), num(-INFINITY)) : mask;
    return fn::flash_attention(q, k, v, added ? cast_to(added, DType::float32) : added, is_causal, factor)[0];
  }
  if (enable_gqa) {
    // Groups of query heads share a key head, and groups of perhaps another size a value head.
    auto widen = [&](const Tensor& t) {
      const int64_t repeat = q.size(-3) / t.size(-3);
      if (repeat == 1) return t;
      Dims sizes = t.sizes();
      sizes.insert(t.ndim() - 2, repeat);
      Dims out = t.sizes();
      out[t.ndim() - 3] *= repeat;
      return reshape(expand(unsqueeze(t, int64_t(-3)), sizes), out);
    };
    k = widen(k), v = widen(v);
  }
  if (!is_inexact(q.dtype())) {
    Dims none = broadcast(op, broadcast(op, batch_of(q), batch_of(k)), batch_of(v));
    check(none.product() == 0 && !hides_whole_numbers(q, mask), op, ": expected scalar type Float but found ", name_of(q.dtype()));
    none.push(q.size(-2)), none.push(v.size(-1));
    return zeros_of(Meta(none, q.dtype(), q.device()));
  }
  // Source: PyTorch, which computes halves in single precision and gives each factor its part of the scale.
  const DType given = v.dtype();
  if (is_reduced(given))
    for (Tensor* t : {&q, &k, &v}) *t = cast_to(*t, DType::float32);
  const double root = std::sqrt(std::fabs(factor));
  Tensor scores = matmul(q * std::copysign(root, factor), transpose(k, int64_t(-2), int64_t(-1)) * root);
  // What is hidden is infinitely far, so that NaN stays NaN. A row that sees nothing attends to nothing.
  if (is_causal) mask = fn::tril(full_of(Meta(Dims{q.size(-2), k.size(-2)}, DType::boolean), Scalar(true)), int64_t(0));
  if (mask && mask.dtype() == DType::boolean) mask = where(mask, full_of(Meta(Dims{}, scores.dtype()), Scalar(0.0)), num(-INFINITY));
  if (mask) scores = scores + mask;
  Tensor p = fn::safe_softmax(scores, int64_t(-1));
  check(!is_complex(p.dtype()), op, ": isneginf does not support complex inputs");  // softmax refuses those of any elements
  if (dropout_p > 0) p = fn::dropout(p, dropout_p, true);
  return cast_to(matmul(cast_to(p, v.dtype()), v), given);
}

static const SoftmaxOps::Registration ops;

}  // namespace weir
