// Tensor: a reference-counted, strided view of a Storage.
//
// Copying a Tensor copies the reference. Views share the Storage and name their root in `base`.
// Nothing here knows of ops or gradients: autograd hangs its own data on `autograd`.
#pragma once
#include <memory>
#include <optional>
#include <span>

#include "framework/core/dims.h"
#include "framework/core/scalar.h"
#include "framework/core/storage.h"

namespace weir {

/// What `infer` says of a result before it exists. `strides.n == -1` means row-major.
struct Meta {
  Dims sizes;
  Dims strides = unset();
  DType dtype = DType::float32;
  Device device;
  int64_t offset = 0;  // of an existing tensor, in elements

  Meta() = default;
  Meta(const Dims& s, DType t, Device d = {}) : sizes(s), dtype(t), device(d) {}
  Meta(const Dims& s, const Dims& st, DType t, Device d) : sizes(s), strides(st), dtype(t), device(d) {}
  bool row_major() const { return strides.n < 0; }

 private:
  static Dims unset() {
    Dims d;
    d.n = -1;
    return d;
  }
};

/// A Meta that is kept: in the room that its own axes take, where Dims have room for the most there may be.
class KeptMeta {
 public:
  KeptMeta() = default;
  KeptMeta(const Meta& m);
  KeptMeta(const KeptMeta& o) : KeptMeta(o.meta()) {}
  KeptMeta(KeptMeta&&) = default;
  KeptMeta& operator=(KeptMeta&&) = default;
  Meta meta() const;
  Dims sizes() const;

 private:
  static constexpr int kInline = 4;  // axes for whose sizes and strides no memory is taken
  const int64_t* numbers() const { return many_ ? many_.get() : few_; }

  int64_t few_[2 * kInline], offset_ = 0;
  std::unique_ptr<int64_t[]> many_;
  DType dtype_ = DType::float32;
  Device device_;
  int8_t axes_ = 0;
  bool row_major_ = true;
};

/// Why a call may need more than infer and a kernel. The door tests all flags of all inputs at once.
enum Flag : uint32_t {
  kRequiresGrad = 1 << 0,   // takes part in autograd
  kWrappedNumber = 1 << 1,  // a Python number; weak in type promotion
  kInference = 1 << 2,      // made in inference mode: never tracked
  kSibling = 1 << 8,        // one of several views that one call made: written to in place, they would part from each other
  kUnrecorded = 1 << 9,     // a view made where gradients are off: writes to it are not part of its base's history
  kConj = 1 << 4,           // its numbers are the conjugates of its bytes
  kNeg = 1 << 5,            // its numbers are the negatives of its bytes
  kDual = 1 << 6,           // has a tangent, which ops push on; see autograd/forward.h
  kAnyByte = 1 << 10,       // its truths are bytes of another dtype: true is what is not 0, not 1 alone
};
constexpr uint32_t kTurned = kConj | kNeg;            // it shows other numbers than its bytes are
constexpr uint32_t kMarks = kTurned | kAnyByte;       // kernels take it without

struct AutogradData {  // what autograd attaches; see autograd/variable.h
  virtual ~AutogradData() = default;
  virtual bool has_history() const = 0;
};

/// How often tensors were written to that share memory with others but not their count: `.data`, and its views.
struct WriteCount {
  std::atomic<int32_t> refs{1};
  uint32_t n = 0;
  static void destroy(WriteCount* c) { delete c; }
};

class Tensor;

struct TensorImpl {
  std::atomic<int32_t> refs{1};
  DType dtype = DType::float32;
  uint32_t flags = 0;
  uint32_t seen_version = 0;  // of a view: the version its history is of
  int64_t numel = 0;
  int64_t offset = 0;  // in elements
  StorageRef storage;
  Ref<WriteCount> own_writes;  // unset: the storage counts
  Ref<TensorImpl> base;  // the tensor this is a view of, never itself a view
  std::unique_ptr<AutogradData> autograd;
  void* py = nullptr;       // the Python object while it lives, borrowed, unless:
  bool owns_py = false;     // Python let go of an object that has attributes or a class of its own: it is kept for its return
  Dims sizes;
  Dims strides;
  bool contiguous = true;

  static void destroy(TensorImpl*);
  static void (*release_py)(void* py);  // frees an owned Python object; set by the binding
};

/// Copyable handle; a default one is "undefined", which stands for None.
class Tensor {
 public:
  Tensor() = default;
  explicit Tensor(Ref<TensorImpl> p) : p_(std::move(p)) {}

  bool defined() const { return bool(p_); }
  explicit operator bool() const { return defined(); }
  TensorImpl* get() const { return p_.get(); }
  TensorImpl* operator->() const { return p_.get(); }
  const Ref<TensorImpl>& ref() const { return p_; }

  const Dims& sizes() const { return p_->sizes; }
  const Dims& strides() const { return p_->strides; }
  /// IndexError where there is no such axis, as for a number there is none.
  int64_t size(int64_t dim) const {
    check<IndexError>(ndim() > 0, "Dimension specified as ", dim, " but tensor has no dimensions");
    return p_->sizes[wrap_dim(dim, ndim(), "size")];
  }
  int64_t stride(int dim) const { return p_->strides[dim < 0 ? dim + ndim() : dim]; }
  int ndim() const { return p_->sizes.n; }
  int64_t numel() const { return p_->numel; }
  DType dtype() const { return p_->dtype; }
  Device device() const { return p_->storage->device; }
  bool is_meta() const { return device().type == DeviceType::meta; }
  bool is_contiguous() const { return p_->contiguous; }
  bool has_flag(Flag f) const { return p_->flags & f; }
  bool is_view() const { return bool(p_->base); }
  /// Whether it stands for a batch of tensors, of which it looks like one.
  bool is_batched() const { return p_->storage->batch; }
  /// Whether this handle is all that holds the tensor and its memory, but for a base that nobody else holds either.
  bool unshared() const {
    const bool own_base = is_view() && p_->base->refs.load() == 1 && p_->base->storage == p_->storage;
    return p_->refs.load() == 1 && p_->storage->refs.load() == 1 + own_base;
  }
  uint32_t version() const { return p_->own_writes ? p_->own_writes->n : p_->storage->version; }
  Meta meta() const {
    Meta m(sizes(), strides(), dtype(), device());
    m.offset = p_->offset;
    return m;
  }

  /// The first element's place. RuntimeError for a symbolic tensor: it has no values yet.
  std::byte* raw() const {
    if (p_->storage->symbolic) [[unlikely]] refuse_reading(*this);
    // An empty tensor may begin beyond what bytes can count: nothing is read there, and the place may be any.
    return reinterpret_cast<std::byte*>(uintptr_t(p_->storage->data) + uint64_t(p_->offset) * size_of(p_->dtype));
  }
  template <class T> T* data() const { return reinterpret_cast<T*>(raw()); }

  bool operator==(const Tensor& o) const { return p_ == o.p_; }

  [[noreturn]] static void refuse_reading(const Tensor& t);

 private:
  Ref<TensorImpl> p_;
};
/// Raises Untraceable for what a trace cannot go on with, naming the place in the user's program; DynamicShape where that is a
/// result's shape. Set by the tracer.
enum class Obstacle : uint8_t { value, shape };
extern void (*untraceable)(Obstacle obstacle, const std::string& what);
using Inputs = std::span<const Tensor>;
using Outputs = std::span<Tensor>;

/// The number of elements. RuntimeError for a negative size and for more than 63 bits hold.
int64_t numel_of(const Dims& sizes);
/// A fresh tensor, uninitialised. Its storage spans exactly what sizes and strides reach.
Tensor empty(const Meta& meta);
inline Tensor empty(const Dims& sizes, DType dtype, Device device = {}) { return empty(Meta(sizes, dtype, device)); }
/// A tensor of the same bytes and marks with its own geometry. `base` stays unset: op/call.cpp decides what is a view.
Tensor alias(const Tensor& of, const Dims& sizes, const Dims& strides, int64_t offset);
Tensor alias(StorageRef storage, DType dtype, const Dims& sizes, const Dims& strides, int64_t offset);
/// As empty, without memory: see Storage::symbolic.
Tensor symbolic(const Meta& meta);
/// Replaces sizes, strides and offset in place.
void set_geometry(const Tensor& t, const Dims& sizes, const Dims& strides, int64_t offset);
/// A 0-d complex128, float64, int64 or bool tensor marked as a Python number: weak in promotion.
Tensor wrapped_number(const Scalar& s, Device device = {});
Scalar item(const Tensor& t);
/// Marks truths (kAnyByte) whose memory, as it is now, holds other bytes than 0 and 1; other truths lose the mark.
void mark_truths(const Tensor& t);

/// Smallest and largest element offset that sizes and strides reach, both 0 when empty.
struct Extent { int64_t low, high; };
Extent extent(const Dims& sizes, const Dims& strides);
/// Dense with the innermost axis the channels: NHWC of a 4-d or NDHWC of a 5-d tensor.
bool is_channels_last(const Dims& sizes, const Dims& strides);
/// Do the strides rise in the order of channels_last, holes or not, where axes of size 1 count as they stand? Source:
/// PyTorch's is_channels_last_strides, by which ops choose the layout of their results.
bool suggests_channels_last(const Dims& sizes, const Dims& strides);
Dims channels_last_strides(const Dims& sizes);
/// Equal strides wherever an axis has more than one element.
bool same_layout(const Dims& sizes, const Dims& a, const Dims& b);
/// Every element has its own address and the elements fill one block without holes.
bool is_non_overlapping_and_dense(const Dims& sizes, const Dims& strides);

inline void bump_version(const Tensor& t) {
  if (t->own_writes) {
    t->own_writes->n++;
    return;
  }
  t->storage->version++;
  if (t.is_batched()) t->storage->batch->memory->version++;
}

}  // namespace weir
