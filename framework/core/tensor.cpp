#include "framework/core/tensor.h"

#include <algorithm>
#include <new>

#include "framework/core/blocks.h"
#include "framework/core/layout.h"
#include "framework/core/storage_types.h"

namespace weir {
namespace {

using Objects = Blocks<(sizeof(TensorImpl) + 63) / 64 * 64, 32 << 20>;

TensorImpl* new_impl() { return new (Objects::take()) TensorImpl; }

}  // namespace

bool is_row_major(const Dims& sizes, const Dims& strides) {
  int64_t step = 1;
  for (int i = sizes.n; i-- > 0;) {
    if (sizes[i] == 0) return true;
    if (sizes[i] == 1) continue;
    if (strides[i] != step || __builtin_mul_overflow(step, sizes[i], &step)) step = -1;  // a size of 0 may still come
  }
  return step > 0;
}

int64_t numel_of(const Dims& sizes) {
  for (int64_t s : sizes) check(s >= 0, "Trying to create tensor with negative dimension ", s, ": ", sizes);
  return sizes.product();
}

void (*TensorImpl::release_py)(void*) = nullptr;

void TensorImpl::destroy(TensorImpl* p) {
  if (p->owns_py) release_py(p->py);
  p->~TensorImpl();
  Objects::give(p);
}

void (*untraceable)(Obstacle, const std::string&) = nullptr;

void Tensor::refuse_reading(const Tensor& t) {
  check(!t.is_batched(), "vmap: It looks like you're calling .item() on a Tensor or attempting to use a Tensor in some data-dependent control flow. "
        "Examples of a batch have values of their own: keep the computation in tensor ops (where, masked_fill, gather). Shape of an example: ", t.sizes());
  if (current_trace && untraceable) untraceable(Obstacle::value, str("the value of a tensor of shape ", t.sizes(), " is read"));
  throw Error("this tensor was made while a program was traced: it has no values. Return it from the traced program to get them");
}

static Tensor over(StorageRef (*make)(size_t, Device), const Meta& m) {
  int64_t numel = numel_of(m.sizes), count = numel;
  if (!m.row_major() && numel) count = checked_add(extent(m.sizes, m.strides).high, 1);
  StorageRef storage = make(checked_mul(count, int64_t(size_of(m.dtype))), m.device);
  TensorImpl* p = new_impl();
  p->dtype = m.dtype;
  p->numel = numel;
  p->storage = std::move(storage);
  p->sizes = m.sizes;
  p->strides = m.row_major() ? contiguous_strides(m.sizes) : m.strides;
  p->contiguous = m.row_major() || is_row_major(m.sizes, m.strides);
  return Tensor(Ref<TensorImpl>(p));
}

Tensor empty(const Meta& m) { return over(new_storage, m); }
Tensor symbolic(const Meta& m) { return over(symbolic_storage, m); }

Tensor alias(StorageRef storage, DType dtype, const Dims& sizes, const Dims& strides, int64_t offset) {
  int64_t numel = numel_of(sizes);
  TensorImpl* p = new_impl();
  p->dtype = dtype;
  p->storage = std::move(storage);
  p->sizes = sizes;
  p->strides = strides;
  p->offset = offset;
  p->numel = numel;
  p->contiguous = is_row_major(sizes, strides);
  return Tensor(Ref<TensorImpl>(p));
}

Tensor alias(const Tensor& of, const Dims& sizes, const Dims& strides, int64_t offset) {
  Tensor t = alias(of->storage, of.dtype(), sizes, strides, offset);
  t->flags = of->flags & (kInference | kMarks | kSibling);
  t->own_writes = of->own_writes;
  return t;
}

void set_geometry(const Tensor& t, const Dims& sizes, const Dims& strides, int64_t offset) {
  t->numel = numel_of(sizes);
  t->sizes = sizes;
  t->strides = strides;
  t->offset = offset;
  t->contiguous = is_row_major(sizes, strides);
}

Tensor wrapped_number(const Scalar& s, Device device) {
  Tensor t = empty(Meta({}, s.large ? DType::float64 : s.dtype(DType::float64), device));
  t->flags |= kWrappedNumber;
  if (t.is_meta()) return t;
  if (s.kind == Scalar::Kind::boolean) *t.data<bool>() = s.i != 0;
  else if (s.kind == Scalar::Kind::integer) *t.data<int64_t>() = s.i;
  else if (s.is_real()) *t.data<double>() = s.d;
  else *t.data<std::complex<double>>() = s.to_complex();
  return t;
}

Scalar item(const Tensor& t) {
  check(t.numel() == 1, "a Tensor with ", t.numel(), " elements cannot be converted to Scalar");
  check(!t.is_meta(), "Tensor.item() cannot be called on meta tensors");
  // What was there before the trace may change before the traced program runs.
  if (current_trace && t->storage->trace != current_trace && !t.has_flag(kWrappedNumber)) [[unlikely]] Tensor::refuse_reading(t);
  return visit_any_dtype(t.dtype(), [&](auto tag) -> Scalar {
    using Stored = typename decltype(tag)::type;
    using T = typename Carrier<Stored>::type;
    if constexpr (std::is_same_v<T, bool>) return Scalar(*t.data<uint8_t>() != 0);
    T x(*t.data<Stored>());
    if constexpr (kIsComplex<T>) if (t.has_flag(kConj)) x = std::conj(x);
    if constexpr (!std::is_same_v<T, bool>) if (t.has_flag(kNeg)) x = T(-x);
    if constexpr (kIsComplex<T>) return Scalar(std::complex<double>(x));
    else if constexpr (std::is_same_v<T, uint64_t>) return int64_t(x) < 0 ? Scalar(double(x)) : Scalar(int64_t(x));
    else if constexpr (std::is_integral_v<T>) return Scalar(int64_t(x));
    else return Scalar(double(x));
  });
}

KeptMeta::KeptMeta(const Meta& m) : offset_(m.offset), dtype_(m.dtype), device_(m.device), axes_(int8_t(m.sizes.n)), row_major_(m.row_major()) {
  if (axes_ > kInline) many_.reset(new int64_t[size_t(2 * axes_)]);
  int64_t* to = many_ ? many_.get() : few_;
  std::copy_n(m.sizes.v, axes_, to);
  if (!row_major_) std::copy_n(m.strides.v, axes_, to + axes_);
}
Dims KeptMeta::sizes() const {
  Dims d;
  d.n = axes_;
  std::copy_n(numbers(), axes_, d.v);
  return d;
}
Meta KeptMeta::meta() const {
  Meta m(sizes(), dtype_, device_);
  m.strides.n = row_major_ ? -1 : axes_;
  if (!row_major_) std::copy_n(numbers() + axes_, axes_, m.strides.v);
  m.offset = offset_;
  return m;
}

void mark_truths(const Tensor& t) {
  if (t.dtype() != DType::boolean || t.is_meta()) return;
  const auto* bytes = reinterpret_cast<const uint8_t*>(t.raw());
  const Extent reach = extent(t.sizes(), t.strides());
  uint8_t seen = 0;
  if (t.numel())
    for (int64_t i = reach.low; i <= reach.high; i++) seen |= bytes[i];
  t->flags = seen > 1 ? t->flags | kAnyByte : t->flags & ~kAnyByte;
}

Extent extent(const Dims& sizes, const Dims& strides) {
  Extent e{0, 0};
  for (int i = 0; i < sizes.n; i++) {
    if (sizes[i] == 0) return {0, 0};
    int64_t& end = strides[i] < 0 ? e.low : e.high;
    end = checked_add(end, checked_mul(sizes[i] - 1, strides[i]));
  }
  return e;
}

Dims channels_last_strides(const Dims& sizes) {
  Dims s;
  s.n = sizes.n;
  int64_t step = 1;
  auto put = [&](int i) {
    s[i] = step;
    step = int64_t(uint64_t(step) * uint64_t(sizes[i]));  // wraps only beside a size of 0, which PyTorch counts as 0 here alone
  };
  put(1);
  for (int i = sizes.n; i-- > 2;) put(i);
  put(0);
  return s;
}

bool is_channels_last(const Dims& sizes, const Dims& strides) {
  if (sizes.n != 4 && sizes.n != 5) return false;
  Dims want = channels_last_strides(sizes);
  for (int i = 0; i < sizes.n; i++)
    if (sizes[i] != 1 && strides[i] != want[i]) return false;
  return true;
}

bool suggests_channels_last(const Dims& sizes, const Dims& strides) {
  if ((sizes.n != 4 && sizes.n != 5) || strides[1] == 0) return false;
  int64_t least = 0;
  for (int k = 0; k < sizes.n; k++) {
    int d = k == 0 ? 1 : k == sizes.n - 1 ? 0 : sizes.n - k;  // C, then the last axis back to the first, N
    if (sizes[d] == 0 || strides[d] < least || (d == 0 && least == strides[1])) return false;
    if (__builtin_mul_overflow(strides[d], std::max<int64_t>(sizes[d], 1), &least)) return false;
  }
  return true;
}

bool same_layout(const Dims& sizes, const Dims& a, const Dims& b) {
  for (int i = 0; i < sizes.n; i++)
    if (sizes[i] > 1 && a[i] != b[i]) return false;
  return true;
}

bool is_non_overlapping_and_dense(const Dims& sizes, const Dims& strides) {
  int order[kMaxDims], n = 0;
  for (int i = 0; i < sizes.n; i++) {
    if (sizes[i] == 0) return true;
    if (sizes[i] > 1) order[n++] = i;
  }
  std::sort(order, order + n, [&](int a, int b) { return strides[a] < strides[b]; });
  int64_t step = 1;
  for (int k = 0; k < n; k++) {
    if (strides[order[k]] != step) return false;
    if (__builtin_mul_overflow(step, sizes[order[k]], &step)) return false;
  }
  return true;
}

}  // namespace weir
