#include "framework/ops/pad.h"

#include <algorithm>

#include "framework/op/copy.h"
#include "framework/ops/create.h"
#include "framework/ops/view.h"

namespace weir {
using namespace fn;

Tensor ConstantPad::compose(Inputs in) const {
  Tensor x = in[0];
  check(pad.n % 2 == 0, "constant_pad_nd: Length of pad must be even but instead it equals ", pad.n);
  check(pad.n / 2 <= x.ndim(), "constant_pad_nd: Length of pad should be no more than twice the number of dimensions of the input. Pad length is ",
        pad.n, " while the input has ", x.ndim(), " dimensions.");
  Dims sizes = x.sizes();
  for (int i = 0; i < pad.n / 2; i++) {
    int d = x.ndim() - 1 - i;
    sizes[d] = checked_add(sizes[d], checked_add(pad[2 * i], pad[2 * i + 1]));
    check(sizes[d] >= 0, "constant_pad_nd: The input size ", x.sizes()[d], ", plus negative padding ", pad[2 * i], " and ", pad[2 * i + 1],
          " resulted in a negative output size, which is invalid. Check dimension ", d, " of your input.");
  }
  Meta m(sizes, x.dtype(), x.device());
  if (!x.is_contiguous() && is_channels_last(x.sizes(), x.strides())) m.strides = channels_last_strides(sizes);
  Tensor out = full_of(m, value), inside = out;
  for (int i = 0; i < pad.n / 2; i++) {
    int64_t d = x.ndim() - 1 - i, before = pad[2 * i], after = pad[2 * i + 1], n = x.size(d), k = sizes[int(d)];
    x = slice(x, d, before < 0 ? checked_sub(0, before) : 0, std::max<int64_t>(after < 0 ? checked_add(n, after) : n, 0), int64_t(1));
    inside = slice(inside, d, std::max<int64_t>(before, 0), std::max<int64_t>(k - std::max<int64_t>(after, 0), 0), int64_t(1));
  }
  copy_into(inside, x);
  return out;
}

static const PadOps::Registration ops;

}  // namespace weir
