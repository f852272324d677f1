#include "framework/ops/attention.h"

#include <cmath>

#include "framework/ops/activation.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/compare.h"
#include "framework/ops/create.h"
#include "framework/ops/index.h"
#include "framework/ops/matmul.h"
#include "framework/ops/reduce.h"
#include "framework/ops/softmax.h"
#include "framework/ops/unary.h"
#include "framework/ops/view.h"

namespace weir {
namespace {

Tensor turned(const Tensor& t) { return fn::transpose(t, int64_t(-2), int64_t(-1)); }

// Key or value heads, each repeated for its group of query heads; and the gradient of that.
Tensor for_groups(const Tensor& t, int64_t heads) {
  int64_t n = t.sizes()[1];
  if (n == heads) return t;
  Tensor wide = fn::expand(fn::unsqueeze(t, int64_t(2)), Dims{t.sizes()[0], n, heads / n, t.sizes()[2], t.sizes()[3]});
  return fn::reshape(wide, Dims{t.sizes()[0], heads, t.sizes()[2], t.sizes()[3]});
}
Tensor of_groups(const Tensor& g, int64_t heads) {
  int64_t n = g.sizes()[1];
  if (n == heads) return g;
  return fn::sum(fn::reshape(g, Dims{g.sizes()[0], heads, n / heads, g.sizes()[2], g.sizes()[3]}), Dims{2});
}

// The gradients in ops, which have gradients themselves.
Tensors gradients_in_parts(const Tensor& q, const Tensor& key, const Tensor& value, const Tensor& mask, const Tensor& dy, bool causal, double scale) {
  int64_t heads = q.sizes()[1], groups = key.sizes()[1];
  Tensor k = for_groups(key, heads), v = for_groups(value, heads);
  Tensor scores = fn::matmul(q * scale, turned(k));
  if (causal) {
    Tensor keep = fn::tril(full_of(Meta(Dims{q.size(-2), k.size(-2)}, DType::boolean), Scalar(true)), int64_t(0));
    scores = fn::where(keep, scores, -INFINITY);
  }
  if (mask) scores = scores + cast_to(mask, scores.dtype());  // which the kernel reads in single precision
  const Tensor p = fn::safe_softmax(scores, int64_t(-1));
  Tensor dp = fn::matmul(dy, turned(v)), ds = p * (dp - fn::sum(dp * p, Dims{-1}, true)) * scale;
  return {fn::matmul(ds, k), of_groups(fn::matmul(turned(ds), q), groups), of_groups(fn::matmul(turned(p), dy), groups)};
}

}  // namespace

std::array<Meta, 2> FlashAttention::infer(Inputs in) const {
  const Dims &q = in[0].sizes(), &v = in[2].sizes();
  Dims sizes{q[0], q[1], q[2], v[3]};
  Meta out(sizes, in[0].dtype(), in[0].device());
  // Heads that lie behind positions, as a projection leaves them, stay there.
  const bool flash = q[3] == v[3] && in[0].strides()[3] == 1 && in[1].strides()[3] == 1 && in[2].strides()[3] == 1;  // in PyTorch, whose other kernels answer row by row
  if (flash && q[1] > 1 && q[2] > 1 && in[0].strides()[1] < in[0].strides()[2]) out.strides = Dims{q[1] * q[2] * v[3], v[3], q[1] * v[3], 1};
  return {out, Meta(Dims{q[0], q[1], q[2]}, DType::float32, in[0].device())};
}

Tensors FlashAttention::vjp(const Saved& s, const Tensor& dy) const {
  Tensor q = s.input(0), k = s.input(1), v = s.input(2), mask = s.input(3);
  if (mode.grad) {
    Tensors g = gradients_in_parts(q, k, v, mask, dy, is_causal, scale);
    return {g[0], g[1], g[2], Tensor()};
  }
  auto g = fn::flash_attention_backward(dy, q, k, v, mask, detach(s.output(0)), detach(s.output(1)), is_causal, scale);
  return {g[0], g[1], g[2], Tensor()};
}

std::array<Meta, 3> FlashAttentionBackward::infer(Inputs in) const {
  auto like = [](const Tensor& t) { return Meta(t.sizes(), t.dtype(), t.device()); };
  return {like(in[1]), like(in[2]), like(in[3])};
}

static const AttentionOps::Registration ops;

}  // namespace weir
