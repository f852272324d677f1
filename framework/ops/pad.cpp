#include "framework/ops/pad.h"

#include <algorithm>

#include "framework/op/copy.h"
#include "framework/ops/create.h"
#include "framework/ops/like.h"
#include "framework/ops/pointwise.h"
#include "framework/ops/resample.h"
#include "framework/ops/view.h"

namespace weir {
using namespace fn;

// The shape with `pad` added, or errors of constant_pad_nd.
static Dims padded_sizes(const Tensor& x, const Dims& pad) {
  check(pad.n % 2 == 0, "constant_pad_nd: Length of pad must be even but instead it equals ", pad.n);
  check(pad.n / 2 <= x.ndim(), "constant_pad_nd: Length of pad should be no more than twice the number of dimensions of the input. Pad length is ",
        pad.n, " while the input has ", x.ndim(), " dimensions.");
  Dims sizes = x.sizes();
  for (int i = 0; i < pad.n / 2; i++) {
    int d = x.ndim() - 1 - i;
    sizes[d] = checked_add(sizes[d], checked_add(pad[2 * i], pad[2 * i + 1]));
    const int64_t cut = checked_add(std::min<int64_t>(pad[2 * i], 0), std::min<int64_t>(pad[2 * i + 1], 0));
    check(x.sizes()[d] + cut >= 0, "constant_pad_nd: the negative padding ",
          pad[2 * i], " and ", pad[2 * i + 1], " cuts off more than the size ", x.sizes()[d], " of dimension ", d);
    check(sizes[d] >= 0, "constant_pad_nd: The input size ", x.sizes()[d], ", plus negative padding ", pad[2 * i], " and ", pad[2 * i + 1],
          " resulted in a negative output size, which is invalid. Check dimension ", d, " of your input.");
  }
  return sizes;
}

Tensor ConstantPad::compose(Inputs in) const {
  Tensor x = in[0];
  padded_sizes(x, pad);
  if (std::all_of(pad.begin(), pad.end(), [](int64_t n) { return n <= 0; })) {  // a clone, by PyTorch's rule of layouts
    for (int i = 0; i < pad.n / 2; i++) {
      const int d = x.ndim() - 1 - i;
      x = slice(x, int64_t(d), -pad[2 * i], x.size(d) + pad[2 * i + 1], int64_t(1));
    }
    return clone_of(x);
  }
  check_held(Held::own, value, x.dtype());
  return pad_constant(x, pad, value);
}

Meta PadConstant::infer(Inputs in) const {
  const Tensor& x = in[0];
  Meta m(padded_sizes(x, pad), x.dtype(), x.device());
  if (suggests_channels_last(x.sizes(), x.strides())) m.strides = channels_last_strides(m.sizes);
  return m;
}
Tensors PadConstant::vjp(const Saved&, const Tensor& dy) const {
  Dims back = pad;
  for (int64_t& n : back) n = -n;
  return {fn::constant_pad_nd(dy, back)};
}

Tensor PadAxes::compose(Inputs in) const {
  const bool any = std::any_of(pad.begin(), pad.end(), [](int64_t n) { return n != 0; });
  return any ? fn::pad_border(in[0], pad, mode) : fn::clone(in[0]);
}

Tensor Pad::compose(Inputs in) const {
  const Tensor& x = in[0];
  int rank = pad.n / 2;
  check<NotImplemented>(mode == "constant" || mode == "reflect" || mode == "replicate" || mode == "circular", "pad: Unrecognised padding mode ",
                        mode.view());
  check(pad.n % 2 == 0, "pad: Padding length must be divisible by 2");
  check(rank <= x.ndim(), "pad: Padding length should be less than or equal to two times the input dimension but got padding length ", pad.n,
        " and input of dimension ", x.ndim());
  if (mode == "constant") return fn::constant_pad_nd(x, pad, value.value_or(Scalar(0.0)));
  check(!value || value->is_zero(), "pad: Padding mode \"", mode.view(), "\" doesn't take in value argument");
  bool wide = mode == "replicate" || (mode == "reflect" && rank < 3);
  check<NotImplemented>((x.ndim() == rank + 1 || x.ndim() == rank + 2) && rank <= 3, "pad: Only 2D, 3D, 4D, 5D padding with non-constant "
                        "padding are supported for now, got ", x.ndim(), "D input and ", pad.n, " pads");
  check<NotImplemented>(mode == "circular" || x.dtype() != DType::boolean, "pad: mode ", mode.view(), " is not implemented for bool");
  if (mode == "reflect" || mode == "replicate")
    for (int d = x.ndim() - rank - 1; d < x.ndim(); d++)
      check(x.sizes()[d] != 0, "pad: Expected ", rank + 1, "D or ", rank + 2, "D (batch mode) tensor with possibly 0 batch size and other non-zero "
            "dimensions for input, but got: ", x.sizes());
  if (mode == "reflect" || mode == "replicate") {
    bool any = false;  // one axis with something left is enough, as in PyTorch
    for (int i = 0; i < rank; i++) any = any || checked_add(x.size(-1 - i), checked_add(pad[2 * i], pad[2 * i + 1])) > 0;
    check(any, "pad: input ", x.sizes(), " is too small for padding ", pad);
  }
  const Tensor padded = wide ? fn::pad_axes_wide(x, pad, mode) : fn::pad_axes(x, pad, mode);
  return mode == "circular" ? padded : pictured_as(x, padded);
}

static const PadOps::Registration ops;

}  // namespace weir
