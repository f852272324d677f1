#include "framework/ops/pointwise.h"

#include <algorithm>

#include "framework/core/layout.h"
#include "framework/ops/create.h"

namespace weir {
namespace {

DType default_float = DType::float32;

int category(DType t) { return is_complex(t) ? 3 : is_floating(t) ? 2 : t == DType::boolean ? 0 : 1; }

// A lower-priority operand only matters when its category is higher.
DType combine(DType high, bool have_high, DType low, bool have_low) {
  if (!have_high) return low;
  if (!have_low || category(high) >= category(low)) return high;
  if (is_complex(low)) return is_floating(high) ? complex_type(high) : low;  // as precise as the tensor
  return promote_types(high, low);
}

// Strides of a result: those of the operands when they agree, else the order of axes that most suits them.
// Source: TensorIterator's reorder_dimensions. Operands of another type than `computed` are cast first, and a cast tensor is dense.
// A `condition` comes first and is not cast.
void result_strides(Meta& m, Inputs in, DType computed, bool condition) {
  auto cast_dense = [&](const Tensor& x) {
    return x.dtype() != computed && x.ndim() > 0 && !is_non_overlapping_and_dense(x.sizes(), x.strides());
  };
  Dims strides_of[3];
  check(in.size() <= std::size(strides_of), "an element-wise op has at most 3 inputs");
  const Dims* first_strides = nullptr;
  for (size_t i = 0; i < in.size(); i++) {
    if (!in[i]) continue;
    strides_of[i] = (i > 0 || !condition) && cast_dense(in[i]) ? dense_strides(in[i].sizes(), std::array{in[i].strides()}) : in[i].strides();
    if (!first_strides) first_strides = &strides_of[i];
  }
  bool shapes = true, same = true, contiguous = true, channels_last = m.sizes.n == 4;
  for (size_t i = 0; i < in.size(); i++) {
    const Tensor& x = in[i];
    if (!x) continue;
    shapes &= x.sizes() == m.sizes;  // a number beside tensors is of another shape
    same &= strides_of[i] == *first_strides;
    contiguous &= is_row_major(x.sizes(), strides_of[i]);
    channels_last = channels_last && is_channels_last(x.sizes(), strides_of[i]);
  }
  if (shapes) {
    if (contiguous) return;
    if (channels_last) return void(m.strides = channels_last_strides(m.sizes));
    if (same && is_non_overlapping_and_dense(m.sizes, *first_strides)) return void(m.strides = *first_strides);
  }
  Dims operands[3];
  int count = 0;
  for (size_t i = 0; i < in.size(); i++) {
    if (!in[i]) continue;
    const int lead = m.sizes.n - in[i].ndim();
    Dims& own = operands[count++] = Dims(m.sizes.n, 0);  // 0 where it is broadcast
    for (int k = 0; k < in[i].ndim(); k++)
      if (in[i].sizes()[k] != 1 || m.sizes[lead + k] == 1) own[lead + k] = strides_of[i][k];
  }
  const Dims strides = dense_strides(m.sizes, std::span(operands, count));
  if (!(strides == contiguous_strides(m.sizes))) m.strides = strides;
}

}  // namespace

DType default_dtype() { return default_float; }
void set_default_dtype(DType t) {
  check<TypeError>(is_floating(t), "only floating-point types are supported as the default type");
  default_float = t;
}

double largest_number(DType t) {
  if (is_complex(t)) t = real_type(t);
  if (t == DType::boolean) return 1;
  if (!is_floating(t)) return std::ldexp(1.0, int(8 * size_of(t)) - (t != DType::uint8)) - 1;
  return t == DType::float16 ? 65504.0 : t == DType::bfloat16 ? 3.3895313892515355e38 : t == DType::float32 ? std::numeric_limits<float>::max() : std::numeric_limits<double>::max();
}

void check_written(const Scalar& number, DType t) {
  if (t == DType::boolean) return;  // a number of any kind is true or not
  const bool real = number.is_complex() && number.imag == 0 && !is_complex(t);  // its real part is the number then
  const Scalar s = real ? Scalar(number.d) : number;
  check_fits(s, t);
  check(t != DType::int64 || !s.is_real() || s.d < 0x1p63, "value cannot be converted to type int64_t without overflow");  // an int of that size is held as a real number
  const auto z = s.to_complex();
  if (is_inexact(t))
    for (double part : {z.real(), z.imag()})
      check(!std::isfinite(part) || std::fabs(part) <= largest_number(t), "value cannot be converted to type ", name_of(t), " without overflow");
}

DType result_type(Inputs in) {
  DType type[3]{};
  bool have[3]{};
  for (const Tensor& x : in) {
    if (!x) continue;
    int rank = x.has_flag(kWrappedNumber) ? 2 : x.ndim() == 0 ? 1 : 0;
    DType t = x.dtype();
    if (rank == 2 && is_inexact(t)) t = is_complex(t) ? complex_type(default_float) : default_float;
    type[rank] = have[rank] ? promote_types(type[rank], t) : t;
    have[rank] = true;
  }
  DType low = combine(type[1], have[1], type[2], have[2]);
  return combine(type[0], have[0], low, have[1] || have[2]);
}

Dims broadcast(const char* op, const Dims& a, const Dims& b) {
  if (a == b) return a;
  Dims out = a.n >= b.n ? a : b;
  const Dims& small = a.n >= b.n ? b : a;
  for (int i = 1; i <= small.n; i++) {
    int64_t &x = out[out.n - i], y = small[small.n - i];
    check(x == y || x == 1 || y == 1, NameIn{op}, ": The size of tensor a (", a[a.n - i], ") must match the size of tensor b (",
          b[b.n - i], ") at non-singleton dimension ", out.n - i);
    if (x == 1) x = y;
  }
  return out;
}

double rounded(double x, DType t) { return t == DType::float16 ? double(Half(float(x))) : double(float(BFloat16(float(x)))); }

// Whether a whole dtype holds every number of another, truth among them.
static bool holds(DType t, DType x) {
  if (x == t || x == DType::boolean) return true;
  return is_unsigned(x) ? size_of(x) + !is_unsigned(t) <= size_of(t) : !is_unsigned(t) && size_of(x) <= size_of(t);
}

// A number beyond a whole dtype wraps around: that of a 0-d tensor, which does not widen the dtype; those of Python are settled before.
static bool mixes_whole(Inputs in, DType t) {
  for (const Tensor& x : in)
    if (x && !x.has_flag(kWrappedNumber) && !holds(t, x.dtype())) return true;
  return false;
}

bool mixes_halves(Inputs in, DType t, uint32_t kept) {
  if (!is_inexact(t) && t != DType::boolean) return mixes_whole(in, t);
  if (!is_reduced(t)) return false;
  for (size_t k = 0; k < in.size(); k++) {
    const Tensor& x = in[k];
    if (!x || x.dtype() == t || kept >> k & 1) continue;
    if (size_of(x.dtype()) == 1) continue;  // truth and bytes lose nothing
    if (!x.has_flag(kWrappedNumber) || x.is_meta()) return true;
    const double number = item(x).to_double();
    if (rounded(number, t) != number) return true;
  }
  return false;
}

void make_halves(Tensors& in, DType t, uint32_t kept) {
  GradMode off(false);
  for (size_t k = 0; k < in.size(); k++)
    if (in[k] && !(kept >> k & 1)) in[k] = cast_to(in[k], t);
}

DType compute_dtype(const char* op, Rule rule, Inputs in) {
  DType t = rule == Rule::select ? result_type(in.subspan(1)) : in.size() == 1 ? in[0].dtype() : result_type(in);
  if ((rule == Rule::floating || rule == Rule::wide) && !is_inexact(t)) return default_float;
  check<NotImplemented>(rule != Rule::wide || t == DType::float32 || t == DType::float64, NameIn{op}, ": not implemented for '", name_of(t), "'");
  check<NotImplemented>(rule != Rule::real || is_inexact(t), NameIn{op}, ": not implemented for '", name_of(t), "'");
  check<NotImplemented>(rule != Rule::integral || !is_inexact(t), NameIn{op}, ": not implemented for '", name_of(t), "'");
  return t;
}

Meta pointwise_meta(const char* op_text, Rule rule, Inputs in) {
  Meta m;
  const Tensor* shape = nullptr;
  bool plain = true, same = true, numbers = true;  // numbers: so far all are 0-d tensors on the CPU, which go with any device
  for (const Tensor& x : in) {
    if (!x) continue;
    const bool number = x.ndim() == 0 && x.device().type == DeviceType::cpu;
    if (!shape) m.sizes = x.sizes(), m.device = x.device(), shape = &x;
    else if (!(x.sizes() == m.sizes)) m.sizes = broadcast(op_text, m.sizes, x.sizes()), same = false;
    if (x.device().type != m.device.type) {
      check(number || numbers, NameIn{op_text}, ": Expected all tensors to be on the same device");
      if (!number) m.device = x.device();
    }
    numbers &= number;
    plain &= x.is_contiguous();
  }
  const DType computed = m.dtype = compute_dtype(op_text, rule, in);
  if (rule == Rule::compare || rule == Rule::predicate) m.dtype = DType::boolean;
  // Of row-major operands of several shapes only axes of size 1 can move, which decides what counts as channels_last, and those of tensors of no
  // elements, which are row-major whatever their strides.
  const auto short_axis = [](int64_t size) { return size < 2; };
  if (!plain || (!same && m.sizes.n > 1 && std::any_of(m.sizes.begin(), m.sizes.end(), short_axis))) result_strides(m, in, computed, rule == Rule::select);
  return m;
}

}  // namespace weir
