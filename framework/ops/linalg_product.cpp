#include "framework/ops/linalg_product.h"

#include <cmath>
#include <functional>

#include "framework/core/warn.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/create.h"
#include "framework/ops/matmul.h"
#include "framework/ops/pointwise.h"
#include "framework/ops/reduce.h"
#include "framework/ops/view.h"

namespace weir {
using namespace fn;

Meta Cross::infer(Inputs in) const {
  const Tensor &a = in[0], &b = in[1];
  check(a.ndim() == b.ndim(), "linalg.cross: inputs must have the same number of dimensions.");
  check<IndexError>(a.ndim() > 0, "linalg.cross: Dimension specified as ", dim, " but tensor has no dimensions");
  const int64_t na = a.size(int(wrap_dim(dim, a.ndim(), "linalg.cross"))), nb = b.size(int(wrap_dim(dim, b.ndim(), "linalg.cross")));
  check(na == 3 && nb == 3, "linalg.cross: inputs dimension ", dim, " must have length 3. Got ", na, " and ", nb);
  check(a.dtype() == b.dtype(), "linalg.cross: expected scalar type ", name_of(a.dtype()), " but found ", name_of(b.dtype()));
  check<NotImplemented>(a.dtype() != DType::boolean, "linalg.cross: not implemented for 'bool'");
  return {broadcast("linalg.cross", a.sizes(), b.sizes()), result_type(in), a.device()};
}
Tensors Cross::vjp(const Saved& s, const Tensor& dy) const {
  return {s.needs(0) ? cross(s.input(1), dy, dim) : Tensor(), s.needs(1) ? cross(dy, s.input(0), dim) : Tensor()};
}

Tensor Vecdot::compose(Inputs in) const {
  for (int i : {0, 1})
    check(is_inexact(in[i].dtype()), "linalg.vecdot: Expected a floating point or complex tensor as input. Got ", name_of(in[i].dtype()));
  check(in[0].dtype() == in[1].dtype(), "linalg.vecdot: Expected x and y to have the same dtype, but found x of type ", name_of(in[0].dtype()),
        " and y of type ", name_of(in[1].dtype()), " instead");
  const bool vectors = in[0].ndim() == 1 && in[1].ndim() == 1;
  check(!vectors || in[0].numel() == in[1].numel(), "linalg.vecdot: inconsistent tensor size, expected vectors of one size, got ", in[0].numel(), " and ",
        in[1].numel());
  Tensor product = conj(in[0]) * in[1];
  // PyTorch asks two vectors for no axis.
  return sum(product, Dims{vectors ? -1 : dim});
}

// The cheapest order is that of Cormen et al., matrix-chain multiplication.
Tensor MultiDot::compose(Inputs in) const {
  const int n = int(in.size());
  check(n >= 2, "multi_dot(): expected at least 2 tensors but got ", n);
  Tensors t(in.begin(), in.end());
  for (int i = 0; i < n; i++) {
    const bool end = i == 0 || i == n - 1;
    check(t[i].ndim() == 2 || (end && t[i].ndim() == 1), "multi_dot(): tensor ", i, " must be 2D", end ? " or 1D" : "", " but got ", t[i].ndim(), "D");
    check(t[i].dtype() == t[0].dtype(), "multi_dot(): all tensors must have be the same dtype but tensor 0 is ", name_of(t[0].dtype()), " and tensor ", i,
          " ", name_of(t[i].dtype()));
  }
  const bool first = t[0].ndim() == 1, last = t[n - 1].ndim() == 1;
  if (first) t[0] = unsqueeze(t[0], int64_t(0));
  if (last) t[n - 1] = unsqueeze(t[n - 1], int64_t(1));
  for (int i = 0; i + 1 < n; i++)
    check(t[i].size(1) == t[i + 1].size(0), "multi_dot(): tensors ", i, " and ", i + 1, " with shapes ", t[i].sizes(), " and ", t[i + 1].sizes(),
          " cannot be multiplied");
  auto edge = [&](int i) { return double(i == 0 ? t[0].size(0) : t[i - 1].size(1)); };
  std::vector<double> cost(size_t(n) * n, 0);
  std::vector<int> cut(size_t(n) * n, 0);
  for (int length = 1; length < n; length++)
    for (int i = 0, j = length; j < n; i++, j++) {
      cost[i * n + j] = HUGE_VAL;
      for (int k = i; k < j; k++) {
        double c = cost[i * n + k] + cost[(k + 1) * n + j] + edge(i) * edge(k + 1) * edge(j + 1);
        if (c < cost[i * n + j]) cost[i * n + j] = c, cut[i * n + j] = k;
      }
    }
  std::function<Tensor(int, int)> product = [&](int i, int j) {
    return i == j ? t[i] : mm(product(i, cut[i * n + j]), product(cut[i * n + j] + 1, j));
  };
  Tensor r = product(0, n - 1);
  if (first) r = squeeze(r, std::optional<Dims>(Dims{0}));
  return last ? squeeze(r, std::optional<Dims>(Dims{-1})) : r;
}

Tensor ChainMatmul::compose(Inputs in) const {
  warn_deprecated("chain_matmul", "linalg.multi_dot");
  check(in.size() > 0, "chain_matmul(): Expected one or more matrices");
  for (const Tensor& t : in) check(t.ndim() == 2, "chain_matmul(): expected matrices, but got a tensor of ", t.ndim(), " dimensions");
  return in.size() == 1 ? clone_of(in[0], MemoryFormat::contiguous) : Fn<MultiDot>::over(in)[0];
}

static const LinalgProductOps::Registration ops;

}  // namespace weir
