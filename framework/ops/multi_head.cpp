#include "framework/ops/multi_head.h"

#include <cmath>

#include "framework/ops/create.h"
#include "framework/ops/functional.h"
#include "framework/ops/index.h"
#include "framework/ops/matmul.h"
#include "framework/ops/random.h"
#include "framework/ops/reduce.h"
#include "framework/ops/softmax.h"
#include "framework/ops/view.h"

namespace weir {
namespace {

// (L, N, E) -> (N, heads, L, E / heads).
Tensor split_heads(const Tensor& x, int64_t heads) {
  const Dims& s = x.sizes();
  return fn::permute(fn::reshape(x, Dims{s[0], s[1], heads, s[2] / heads}), Dims{1, 2, 0, 3});
}
// (N heads, S, E / heads) -> (N, heads, S, E / heads).
Tensor given_heads(const Tensor& x, int64_t batch, int64_t heads) { return fn::reshape(x, Dims{batch, heads, x.sizes()[1], x.sizes()[2]}); }

// A mask to be added, with `more` visible positions at its end.
Tensor added(Tensor mask, int64_t more, DType t) {
  if (!mask) return mask;
  if (more) {
    Dims sizes = mask.sizes();
    sizes[sizes.n - 1] = more;
    mask = fn::cat(Tensors{mask, zeros_of(Meta(sizes, mask.dtype(), mask.device()))}, int64_t(-1));
  }
  return mask.dtype() == DType::boolean ? fn::masked_fill(zeros_of(Meta(mask.sizes(), t, mask.device())), mask, -INFINITY) : mask;
}

// One mask, broadcastable to (N, heads, L, S), or none.
Tensor merged(Tensor mask, Tensor padding, int64_t batch, int64_t heads) {
  if (mask && mask.ndim() == 3) mask = fn::reshape(mask, Dims{batch, heads, mask.sizes()[1], mask.sizes()[2]});
  if (!padding) return mask;
  padding = fn::reshape(padding, Dims{batch, 1, 1, -1});
  return mask ? mask + padding : padding;
}

// Products (N, heads, L, S) beside the mask, which is added before they are rounded: halves overflow else. Source: PyTorch's baddbmm of them.
Tensor scores(const Tensor& q, const Tensor& k, const Tensor& mask) {
  if (!mask) return fn::matmul(q, k);
  const Dims sizes{q.size(0), q.size(1), q.size(2), k.size(3)};
  auto flat = [](const Tensor& t) { return fn::reshape(t, Dims{t.size(0) * t.size(1), t.size(2), t.size(3)}); };
  return fn::reshape(fn::baddbmm(flat(fn::expand(mask, sizes)), flat(q), flat(k)), sizes);
}

}  // namespace

Tensors MultiHeadAttention::compose(Inputs in) const {
  Tensor x[3] = {in[0], in[1], in[2]}, padding = in[12];
  const bool batched = x[0].ndim() == 3;
  check(num_heads > 0, "multi_head_attention: num_heads must be positive, got ", num_heads);
  for (Tensor& t : x) t = batched ? t : fn::unsqueeze(t, int64_t(1));
  if (!batched && padding) padding = fn::unsqueeze(padding, int64_t(0));
  const int64_t batch = x[0].sizes()[1];

  const Tensors w = in[3] ? fn::chunk(in[3], int64_t(3)) : Tensors{in[5], in[6], in[7]}, b = in[4] ? fn::chunk(in[4], int64_t(3)) : Tensors(3);
  for (int i = 0; i < 3; i++) x[i] = fn::linear(x[i], w[i], b[i]);
  int64_t more = 0;
  if (in[8]) {
    for (int i : {1, 2}) x[i] = fn::cat(Tensors{x[i], fn::expand(in[7 + i], Dims{1, batch, in[7 + i].ndim() ? in[7 + i].size(-1) : 1})}, int64_t(0));
    more++;
  }
  for (Tensor& t : x) t = split_heads(t, num_heads);
  for (int i : {1, 2})
    if (in[13 + i]) x[i] = given_heads(in[13 + i], batch, num_heads);
  auto [q, k, v] = x;
  if (add_zero_attn) {
    const Dims sizes{batch, num_heads, 1, k.size(-1)};
    for (Tensor* t : {&k, &v}) *t = fn::cat(Tensors{*t, zeros_of(Meta(sizes, t->dtype(), t->device()))}, int64_t(2));
    more++;
  }
  const int64_t lacking = in[13] && in[13].size(-1) == k.size(2) ? 0 : more;  // none of a mask that is given for what was added too
  const Tensor mask = merged(added(in[13], lacking, q.dtype()), added(padding, more, q.dtype()), batch, num_heads);

  Tensor attention, heads;
  if (weights == "none") {
    heads = fn::scaled_dot_product_attention(q, k, v, mask, dropout_p);
  } else {
    const Tensor scaled = q * std::sqrt(1 / double(q.size(-1)));
    attention = fn::dropout(fn::softmax(scores(scaled, fn::transpose(k, int64_t(-2), int64_t(-1)), mask), int64_t(-1)), dropout_p, dropout_p > 0);
    heads = fn::matmul(attention, v);
  }
  check<IndexError>(in[10].ndim() != 1, "multi_head_attention_forward: expected a matrix as out_proj_weight, got sizes ", in[10].sizes());
  const Tensor joined = fn::permute(heads, Dims{2, 0, 1, 3});  // as rows of a matrix, whose bias is part of the product
  const Dims& n = joined.sizes();
  const Tensor rows = fn::linear(fn::reshape(joined, Dims{n[0] * n[1], n[2] * n[3]}), in[10], in[11]);
  Tensor output = fn::reshape(rows, Dims{n[0], n[1], rows.size(-1)});
  if (attention && weights == "mean") attention = fn::mean(attention, Dims{1});
  if (!batched) {
    output = fn::squeeze(output, Dims{1});
    if (attention) attention = fn::squeeze(attention, Dims{0});
  }
  return attention ? Tensors{output, attention} : Tensors{output};
}

static const MultiHeadOps::Registration ops;

}  // namespace weir
