// Storage: the bytes behind one or more tensors, with the version counter that autograd checks.
//
// Reference counted by Ref<>. `version` rises by one with every in-place write through any view
// but those that count their own (tensor.h).
// Memory comes from a caching allocator: blocks of at least kSmallBlock bytes are 64-byte aligned and kept
// after release, because giving pages back to the kernel costs more than most kernels that follow.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "framework/core/device.h"

namespace weir {

constexpr size_t kAlignment = 64;

/// Intrusive reference: `T` has `refs` (atomic) and a static `destroy(T*)`.
template <class T>
class Ref {
 public:
  Ref() = default;
  explicit Ref(T* p) : p_(p) {}  // takes over one count
  static Ref share(T* p) {
    if (p) p->refs.fetch_add(1, std::memory_order_relaxed);
    return Ref(p);
  }
  Ref(const Ref& o) : p_(o.p_) {
    if (p_) p_->refs.fetch_add(1, std::memory_order_relaxed);
  }
  Ref(Ref&& o) noexcept : p_(std::exchange(o.p_, nullptr)) {}
  Ref& operator=(Ref o) noexcept {
    std::swap(p_, o.p_);
    return *this;
  }
  ~Ref() { reset(); }
  void reset() {
    T* p = std::exchange(p_, nullptr);
    // A count of one seen here cannot rise: nobody else holds a reference to copy.
    if (p && (p->refs.load(std::memory_order_acquire) == 1 ||
              p->refs.fetch_sub(1, std::memory_order_acq_rel) == 1))
      T::destroy(p);
  }
  T* get() const { return p_; }
  T* release() { return std::exchange(p_, nullptr); }
  T* operator->() const { return p_; }
  T& operator*() const { return *p_; }
  explicit operator bool() const { return p_ != nullptr; }
  bool operator==(const Ref& o) const { return p_ == o.p_; }

 private:
  T* p_ = nullptr;
};

struct Batch;

struct Storage {
  std::atomic<int32_t> refs{1};
  uint32_t version = 0;
  std::byte* data = nullptr;
  size_t bytes = 0;
  uint32_t trace = 0;      // the trace it was made in, 0: none
  int32_t symbol = -1;     // its number in that trace
  bool symbolic = false;   // its values exist when the traced program runs, not now: reading them raises
  Device device;
  void (*release)(void* context) = nullptr;  // set when the memory is somebody else's (NumPy, a file map)
  void* context = nullptr;
  uint64_t made = 0;       // this thread's count of storages when it was made
  Batch* batch = nullptr;  // owned. Its tensors stand for a batch of tensors, and have no values of their own: `symbolic` is set

  static void destroy(Storage*);
};
using StorageRef = Ref<Storage>;

/// An axis that the tensors over a storage do not show: what they show is there once for every index along it.
struct BatchAxis {
  uint64_t level;   // of the vmap that made it; inner ones have larger numbers
  int64_t size;
  int64_t stride;   // in bytes, since views may show the same memory in another dtype
  bool operator==(const BatchAxis& o) const { return level == o.level; }
};
/// The memory behind a batched storage. Geometry within one example, and so views, versions and aliasing, are the tensors' own.
struct Batch {
  StorageRef memory;
  std::vector<BatchAxis> axes;  // their levels rise
};
/// Storage of `bytes` an example over the memory of a batch.
StorageRef batched_storage(size_t bytes, Batch batch);
/// Gives the storage these axes too; what is in it is there for every index along them. False where others look at its memory.
bool spread(Storage& storage, std::vector<BatchAxis> axes);
/// How many batched storages there are: where none is, no call looks for one.
extern std::atomic<int64_t> batches;
extern constinit thread_local uint64_t storages_made;

/// The trace that is being made on this thread, 0: none. Storages made meanwhile carry its number.
extern constinit thread_local uint32_t current_trace;

/// Storage without memory, whose values exist when the traced program runs.
StorageRef symbolic_storage(size_t bytes, Device device);
/// New uninitialised storage. OutOfMemory when the system has none left after the cache was emptied.
StorageRef new_storage(size_t bytes, Device device = {});
/// Storage over foreign memory; `release(context)` is called when the last tensor goes.
StorageRef borrow_storage(void* data, size_t bytes, void (*release)(void*), void* context);
/// Makes room for `bytes`, keeping the content; a storage never shrinks.
void grow(Storage& storage, size_t bytes);

struct AllocatorStats { size_t in_use, peak, cached; };  // bytes
AllocatorStats allocator_stats();
void reset_peak();
/// Gives cached blocks back to the system.
void empty_cache();

}  // namespace weir
