#include "framework/ops/vision.h"

#include "framework/ops/arithmetic.h"
#include "framework/ops/create.h"
#include "framework/ops/functional.h"
#include "framework/ops/matmul.h"
#include "framework/ops/rearrange.h"
#include "framework/ops/reduce.h"
#include "framework/ops/view.h"

namespace weir {

namespace {

// Source: PyTorch's kernels, which know the layouts of four axes.
void check_picture(const Tensor& x) {
  check(x.ndim() != 5 || !suggests_channels_last(x.sizes(), x.strides()), "Unsupported memory format. Supports only ChannelsLast, Contiguous");
}

// `x` with each of its last axes split into `parts`, numbered through, of which each of `joined` makes an axis of the result. Channels that lie
// last are split and joined there: the result lies as x suggests, and its gradient as what comes back.
Tensor regrouped(const Tensor& x, const std::vector<Dims>& parts, const std::vector<Dims>& joined) {
  const int n = int(parts.size()), lead = x.ndim() - n;
  const bool channels_last = (x.ndim() == 4 || x.ndim() == 5) && suggests_channels_last(x.sizes(), x.strides());
  Dims split, order, sizes, place, first;  // place: where a part stands among the split axes; first: the number of an axis's first one
  for (const Dims& axis : parts) {
    first.push(place.n);
    for (int i = 0; i < axis.n; i++) place.push(0);
  }
  for (int d = 0; d < lead; d++) split.push(x.sizes()[d]), order.push(d), sizes.push(x.sizes()[d]);
  auto in_order = [&](int i) { return (i + channels_last) % n; };
  for (int i = 0; i < n; i++)
    for (int k = 0; k < parts[size_t(in_order(i))].n; k++) place[int(first[in_order(i)]) + k] = split.n, split.push(parts[size_t(in_order(i))][k]);
  for (int i = 0; i < n; i++) {
    int64_t size = 1;
    for (int64_t part : joined[size_t(in_order(i))]) order.push(place[int(part)]), size *= split[int(place[int(part)])];
    sizes.push(size);
  }
  const Tensor from = channels_last ? fn::movedim(x, Dims{lead}, Dims{-1}) : x;
  const Tensor r = fn::reshape(fn::clone(fn::permute(fn::reshape(from, split), order), MemoryFormat::contiguous), sizes);
  return channels_last ? fn::movedim(r, Dims{-1}, Dims{lead}) : r;
}

}  // namespace

Tensor ChannelShuffle::compose(Inputs in) const {
  const Tensor& x = in[0];
  check(x.ndim() > 2, "channel_shuffle expects input with > 2 dims, but got input with sizes ", x.sizes());
  check(groups > 0, "Number of groups to divide channels in must be positive. Value of groups:", groups);
  int64_t channels = x.sizes()[1];
  check(channels % groups == 0, "Number of channels must be divisible by groups. Got ", channels, " channels and ", groups, " groups.");
  std::vector<Dims> parts{{groups, channels / groups}}, joined{{1, 0}};
  for (int d = 2; d < x.ndim(); d++) parts.push_back({x.sizes()[d]}), joined.push_back({d});
  return regrouped(x, parts, joined);
}

Tensor PixelShuffle::compose(Inputs in) const {
  const Tensor& x = in[0];
  const int64_t r = upscale_factor;
  check(x.ndim() >= 3, "pixel_shuffle expects input to have at least 3 dimensions, but got input with ", x.ndim(), " dimension(s)");
  check(r > 0, "pixel_shuffle expects a positive upscale_factor, but got ", r);
  int64_t c = x.size(-3), h = x.size(-2), w = x.size(-1);
  check<ValueError>(r < int64_t(3037000500), "upscale factor is too large, (upscale_factor)^2 overflowed: upscale_factor=", r);
  const int64_t square = r * r;
  check(c % square == 0, "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, but "
        "input.size(-3)=", c, " is not divisible by ", square);
  check_picture(x);
  return regrouped(x, {{c / square, r, r}, {h}, {w}}, {{0}, {3, 1}, {4, 2}});
}

Tensor PixelUnshuffle::compose(Inputs in) const {
  const Tensor& x = in[0];
  const int64_t r = downscale_factor;
  check(x.ndim() >= 3, "pixel_unshuffle expects input to have at least 3 dimensions, but got input with ", x.ndim(), " dimension(s)");
  check(r > 0, "pixel_unshuffle expects a positive downscale_factor, but got ", r);
  int64_t c = x.size(-3), h = x.size(-2), w = x.size(-1);
  check(h % r == 0, "pixel_unshuffle expects height to be divisible by downscale_factor, but input.size(-2)=", h, " is not divisible by ", r);
  check(w % r == 0, "pixel_unshuffle expects width to be divisible by downscale_factor, but input.size(-1)=", w, " is not divisible by ", r);
  check_picture(x);
  if (x.numel() == 0) return fn::clone(x);  // as PyTorch, which leaves the shape of nothing as it is
  return regrouped(x, {{c}, {h / r, r}, {w / r, r}}, {{0, 2, 4}, {1}, {3}});
}

Tensor ConvTbc::compose(Inputs in) const {
  const Tensor &x = in[0], &w = in[1], &b = in[2];
  check(x.ndim() == 3, "Input must have 3 dims: time, batch, in_channel");
  check(w.ndim() == 3, "Weight tensor must have 3 dims: kernel_width, in_channels, out_channels.");
  check(b.ndim() == 1, "Bias must be 1-D");
  check(x.sizes()[2] == w.sizes()[1], "Input dim 2 (input channels) is not == dim 1 in the weight tensor");
  check(w.sizes()[2] == b.sizes()[0], "Bias size must equal dim 2 in the weight tensor (output channels).");
  // Twice a padding is the same for one without its first bit: where it wraps around, it does in PyTorch too.
  const int64_t around = int64_t(uint64_t(pad) << 1), shift = around / 2, length = checked_add(x.sizes()[0], checked_sub(around, w.sizes()[0])) + 1;
  Dims sizes{length, x.sizes()[1], w.sizes()[2]};
  check(length >= 0, "Trying to create tensor with negative dimension ", length, ": ", sizes);
  // No zeros around x, which would meet infinite weights: each weight adds to the rows that it reaches. As in PyTorch, those of x must be
  // one matrix as they lie.
  const int64_t steps = x.sizes()[0], batch = x.sizes()[1];
  auto rows = [&](const Tensor& t, int64_t start, int64_t count) { return fn::view(fn::narrow(t, int64_t(0), start, count), Dims{count * batch, t.size(2)}); };
  Tensor sum = fn::clone(fn::expand(cast_to(b, x.dtype()), sizes), MemoryFormat::contiguous);
  for (int64_t k = 0; k < w.sizes()[0]; k++) {
    const int64_t from = std::max<int64_t>(0, k - shift), to = std::max<int64_t>(0, shift - k), count = std::min(steps - from, length - to);
    if (count <= 0) continue;
    const Tensor added = fn::unflatten(fn::matmul(rows(x, from, count), fn::select(w, int64_t(0), k)), int64_t(0), Dims{count, batch});
    sum = fn::slice_scatter(sum, fn::narrow(sum, int64_t(0), to, count) + added, int64_t(0), to, to + count);
  }
  // What reaches nothing gets a gradient of zeros.
  for (const Tensor& t : {x, w}) sum = sum + fn::sum(fn::narrow(fn::reshape(t, Dims{-1}), int64_t(0), int64_t(0), int64_t(0)), std::nullopt, false, sum.dtype());
  return sum;
}

Tensor Bilinear::compose(Inputs in) const {
  const Tensor &a = in[0], &b = in[1], &bias = in[3];
  Tensor w = in[2];
  for (const Tensor& t : in)
    if (t) check(t.dtype() == a.dtype(), "bilinear(): All tensors must have the same dtype, got ", name_of(a.dtype()), " and ", name_of(t.dtype()));
  check(a.ndim() == b.ndim(), "bilinear(): input dimensions do not match: got ", a.ndim(), " and ", b.ndim());
  for (int i = 0; i + 1 < a.ndim(); i++)
    check(a.sizes()[i] == b.sizes()[i], "bilinear(): input batch dimensions do not match at dim ", i, ": got ", a.sizes()[i], " and ", b.sizes()[i]);
  auto has_axes = [](const Tensor& t, int64_t dim) { check<IndexError>(t.ndim() > 0, "bilinear(): Dimension specified as ", dim, " but tensor has no dimensions"); };
  has_axes(a, -1), has_axes(w, 1);
  const int64_t rows = w.size(1);
  check(a.size(-1) == rows, "bilinear(): input1 size does not match weight size: got ", a.size(-1), " but expected ", rows);
  const int64_t columns = w.size(2), outputs = w.size(0);
  check(b.size(-1) == columns, "bilinear(): input2 size does not match weight size: got ", b.size(-1), " but expected ", columns);
  if (bias) has_axes(bias, 0);
  check(!bias || bias.size(0) == outputs, "bilinear(): bias size does not match weight size: got ", bias ? bias.size(0) : 0, " but expected ", outputs);
  Dims sizes = a.sizes();
  sizes[a.ndim() - 1] = outputs;
  Tensor x = fn::reshape(a, Dims{-1, rows}), y = fn::reshape(b, Dims{-1, columns});
  check(w.ndim() == 3 || outputs == 0, "bilinear(): weight must have 3 dimensions, got ", w.ndim());
  int64_t n = x.sizes()[0];
  if (w.ndim() != 3) w = fn::reshape(w, Dims{outputs, rows, columns});  // PyTorch, which takes the matrices one by one, looks at none
  Tensor left = fn::matmul(x, fn::reshape(fn::permute(w, Dims{1, 0, 2}), Dims{rows, outputs * columns}));
  Tensor r = fn::sum(fn::reshape(left, Dims{n, outputs, columns}) * fn::reshape(y, Dims{n, 1, columns}), Dims{-1}, false, x.dtype());
  r = fn::reshape(r, sizes);
  return bias ? r + bias : r;
}

static const VisionOps::Registration ops;

}  // namespace weir
