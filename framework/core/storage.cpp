#include "framework/core/storage.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "framework/core/blocks.h"
#include "framework/core/dims.h"
#include "framework/core/error.h"
#include "framework/core/huge_pages.h"
#include "framework/core/released.h"
#include "framework/core/scratch.h"
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

namespace weir {
namespace {

constexpr size_t kSmallBlock = 512;  // up to this, blocks of one size
constexpr double kMaxWaste = 1.125;  // a cached block may be this much larger than the request
constexpr size_t kLeastIdle = 8 << 20, kMostIdle = 64 << 20;  // of cached blocks, beside what was in use at once

[[noreturn]] void throw_out_of_memory(size_t bytes) {
  throw OutOfMemory(str("[enforce fail] not enough memory: you tried to allocate ", bytes, " bytes"));
}

size_t round_up(size_t n, size_t to) { return (n + to - 1) / to * to; }

size_t block_size(size_t bytes) {
  if (bytes <= kSmallBlock) return kSmallBlock;
  return round_up(bytes, bytes < kHugePage ? 4096 : kHugePage / 8);
}

// AddressSanitizer knows the blocks, not what of them was asked for or which wait for their next use: these say so.
// It also has the limit on a request's size that a run of random calls needs, so that there all blocks come from malloc.
#ifdef __SANITIZE_ADDRESS__
constexpr bool kFromHugePages = false;
void forbid(std::byte* p, size_t size) { __asan_poison_memory_region(p, size); }
void allow(std::byte* p, size_t size) { __asan_unpoison_memory_region(p, size); }
#else
constexpr bool kFromHugePages = true;
void forbid(std::byte*, size_t) {}
void allow(std::byte*, size_t) {}
#endif

// Blocks by size. Best fit within kMaxWaste, so that the shapes of a training step find their own blocks again.
class Cache {
 public:
  std::byte* take(size_t size) {
    std::lock_guard lock(mutex_);
    std::byte* p = find(size);
    stats_.in_use += size;
    if (stats_.in_use > stats_.peak) stats_.peak = stats_.in_use;
    return p;
  }
  void give(std::byte* p, size_t size) noexcept {
    std::lock_guard lock(mutex_);
    stats_.in_use -= size;
    auto it = real_size_.find(p);
    size_t real = it->second;
    real_size_.erase(it);
    forbid(p, real);
    try {
      free_[real].push_back(p);
    } catch (const std::bad_alloc&) {  // no room even for the list: the block goes back at once
      return to_system(p, real);
    }
    stats_.cached += real;
  }
  void clear() {
    std::lock_guard lock(mutex_);
    drop(0);
    dropped_.clear(), idle_ = kLeastIdle;
  }
  /// Memory that is never given back and not counted; null where there is none.
  std::byte* take_for_good(size_t size) {
    std::lock_guard lock(mutex_);
    return kFromHugePages ? huge_pages_.take(size) : nullptr;
  }
  AllocatorStats stats() {
    std::lock_guard lock(mutex_);
    return stats_;
  }
  void reset_peak() {
    std::lock_guard lock(mutex_);
    stats_.peak = stats_.in_use;
  }

 private:
  std::byte* find(size_t size) {
    auto it = free_.lower_bound(size);
    while (it != free_.end() && it->second.empty()) it = free_.erase(it);  // left by a list that could not grow
    if (it != free_.end() && double(it->first) <= kMaxWaste * double(size)) {
      std::byte* p = it->second.back();
      size_t found = it->first;
      real_size_[p] = found;
      it->second.pop_back();
      stats_.cached -= found;
      if (it->second.empty()) free_.erase(it);
      return p;
    }
    // Trade idle blocks of other sizes for a new one before the footprint grows beyond what was ever in use; a little more is
    // kept where what was traded away is asked for again, since the system clears every page it gives.
    if (auto d = dropped_.find(size); d != dropped_.end()) {
      idle_ = std::min(idle_ + size, kMostIdle);
      dropped_.erase(d);
    }
    size_t in_use = stats_.in_use + size, budget = std::max(stats_.peak, in_use) + idle_;
    if (in_use + stats_.cached > budget) drop(budget > in_use ? budget - in_use : 0);
    std::byte* p = fresh(size);
    try {
      real_size_[p] = size;
    } catch (const std::bad_alloc&) {
      to_system(p, size);
      throw_out_of_memory(size);
    }
    return p;
  }
  std::byte* from_system(size_t size) {
    std::byte* p = kFromHugePages ? huge_pages_.take(size) : nullptr;
    return p ? p : static_cast<std::byte*>(std::aligned_alloc(kAlignment, size));
  }
  void to_system(std::byte* p, size_t size) {
    allow(p, size);
    if (huge_pages_.owns(p)) huge_pages_.give(p, size);
    else std::free(p);
  }
  std::byte* fresh(size_t size) {
    for (int attempt = 0; attempt < 2; attempt++) {
      if (std::byte* p = from_system(size)) return p;
      drop(0);
    }
    throw_out_of_memory(size);
  }
  void drop(size_t keep) {
    while (stats_.cached > keep && !free_.empty()) {
      auto it = std::prev(free_.end());
      if (it->second.empty()) {
        free_.erase(it);
        continue;
      }
      to_system(it->second.back(), it->first);
      it->second.pop_back();
      stats_.cached -= it->first;
      if (idle_ < kMostIdle && keep > 0) dropped_.insert(it->first);
      if (it->second.empty()) free_.erase(it);
    }
  }
  std::mutex mutex_;
  HugePages huge_pages_;
  std::map<size_t, std::vector<std::byte*>> free_;
  std::map<std::byte*, size_t> real_size_;
  std::set<size_t> dropped_;  // sizes that were given back for others
  size_t idle_ = kLeastIdle;
  AllocatorStats stats_{};
};

Cache& cache() {
  static Cache* c = new Cache;  // never destroyed: tensors may outlive static destruction
  return *c;
}

using SmallBlocks = Blocks<kSmallBlock, kHugePage, kAlignment>;
using Objects = Blocks<(sizeof(Storage) + 63) / 64 * 64, kHugePage>;

std::byte* small_block(size_t bytes) {
  try {
    return static_cast<std::byte*>(SmallBlocks::take());
  } catch (const std::bad_alloc&) {
    throw_out_of_memory(bytes);
  }
}

std::byte* allocate(size_t bytes) {
  const size_t size = block_size(bytes);
  std::byte* p = bytes > kSmallBlock ? cache().take(size) : small_block(bytes);
  allow(p, bytes);
  forbid(p + bytes, size - bytes);
  return p;
}

void deallocate(std::byte* p, size_t bytes) {
  if (bytes > kSmallBlock) return cache().give(p, block_size(bytes));
  forbid(p, kSmallBlock);
  SmallBlocks::give(p);
}

Storage* new_object() { return new (Objects::take()) Storage; }

}  // namespace

std::byte* memory_for_good(size_t bytes) { return cache().take_for_good(bytes); }
std::byte* scratch_block(size_t bytes) { return allocate(bytes); }
void return_scratch(std::byte* p, size_t bytes) noexcept { deallocate(p, bytes); }

void Storage::destroy(Storage* s) {
  if (s->batch) {
    delete s->batch;
    batches--;
  }
  if (s->release) s->release(s->context);
  else if (s->data) deallocate(s->data, s->bytes);
  Objects::give(s);
}

constinit thread_local uint32_t current_trace = 0;
constinit thread_local uint64_t storages_made = 0;
std::atomic<int64_t> batches{0};

StorageRef symbolic_storage(size_t bytes, Device device) {
  Storage* s = new_object();
  s->bytes = bytes;
  s->device = device;
  s->trace = current_trace;
  s->made = ++storages_made;
  s->symbolic = true;
  return StorageRef(s);
}

StorageRef batched_storage(size_t bytes, Batch batch) {
  StorageRef s = symbolic_storage(bytes, batch.memory->device);
  s->batch = new Batch(std::move(batch));
  batches++;
  return s;
}

bool spread(Storage& s, std::vector<BatchAxis> axes) {
  if (s.release || s.context || s.device.type != DeviceType::cpu || (s.symbolic && !s.batch) || current_trace) return false;
  const StorageRef before = s.batch ? s.batch->memory : StorageRef();
  const std::byte* from = before ? before->data : s.data;
  const size_t bytes = before ? before->bytes : s.bytes;
  auto stride = int64_t(bytes);
  for (size_t i = axes.size(); i-- > 0; stride = checked_mul(stride, axes[i].size)) axes[i].stride = stride;
  auto batch = std::make_unique<Batch>(new_storage(size_t(stride), s.device), std::move(axes));
  for (int64_t at = 0; bytes && at < stride; at += int64_t(bytes)) std::memcpy(batch->memory->data + at, from, bytes);
  if (s.batch) {
    batch->axes.insert(batch->axes.end(), s.batch->axes.begin(), s.batch->axes.end());
    std::sort(batch->axes.begin(), batch->axes.end(), [](const BatchAxis& a, const BatchAxis& b) { return a.level < b.level; });
    delete s.batch;
  } else {
    deallocate(std::exchange(s.data, nullptr), s.bytes);
    s.symbolic = true;
    batches++;
  }
  s.batch = batch.release();
  return true;
}

StorageRef new_storage(size_t bytes, Device device) {
  if (device.type != DeviceType::cpu) check_available(device);
  std::byte* data = device.type == DeviceType::cpu ? allocate(bytes) : nullptr;
  Storage* s = new_object();
  s->trace = current_trace;
  s->made = ++storages_made;
  s->bytes = bytes;
  s->device = device;
  s->data = data;
  return StorageRef(s);
}

StorageRef borrow_storage(void* data, size_t bytes, void (*release)(void*), void* context) {
  Storage* s = new_object();
  s->data = static_cast<std::byte*>(data);
  s->bytes = bytes;
  s->release = release;
  s->context = context;
  return StorageRef(s);
}

void grow(Storage& s, size_t bytes) {
  if (bytes <= s.bytes) return;
  check(!s.batch, "vmap: resize_ cannot give the tensors of a batch more memory");
  if (regrow(s, bytes)) return;
  check(!s.release, "resize_: storage over foreign memory cannot grow");
  // A context without a release marks memory whose address others hold; in a trace, a view, which grows as its memory will.
  check(!s.context || s.symbolic, "Trying to resize storage that is not resizable: NumPy or DLPack looks at its memory");
  if (s.device.type == DeviceType::cpu && s.data) {
    std::byte* data = allocate(bytes);
    std::memcpy(data, s.data, s.bytes);
    deallocate(s.data, s.bytes);
    s.data = data;
  }
  s.bytes = bytes;
}

AllocatorStats allocator_stats() { return cache().stats(); }
void reset_peak() { cache().reset_peak(); }
void empty_cache() { cache().clear(); }

}  // namespace weir
