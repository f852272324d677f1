// Blocks of one size for what a training step reads over and over: small tensors' numbers, tensors, storages. In malloc's heap each lies on a page of its own,
// among what else a program made, and a machine that is slow to look up pages (huge_pages.h) spends more time on that than on the kernels of small tensors.
#pragma once
#include <cstddef>
#include <cstdlib>
#include <mutex>
#include <new>
#include <utility>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

namespace weir {

/// Memory on huge pages that is never given back; null where there is none, or where AddressSanitizer is to see every block.
std::byte* memory_for_good(size_t bytes);

/// Of kSize bytes, kAlign aligned. They share kRoom bytes; when those are in use, blocks come from malloc, which can use the memory for other sizes after them.
template <size_t kSize, size_t kRoom, size_t kAlign = 64> class Blocks {
 public:
  /// Raises std::bad_alloc.
  static void* take() {
    if (own.n && own.n <= kKept) return own.items[--own.n];
    void* p = shared().take();
    if (!p && !(p = std::aligned_alloc(kAlign, kSize))) throw std::bad_alloc();
    return p;
  }
  static void give(void* p) {
    if (own.n < kKept) own.items[own.n++] = p;
    else release(p);
  }

 private:
  static_assert(kSize % kAlign == 0 && kSize >= sizeof(void*));
  static constexpr size_t kKept = 256;

  struct Own {  // of a thread, without a lock
    void* items[kKept];
    size_t n = 0;
    ~Own() {
      while (n) release(items[--n]);
      n = kKept + 1;  // late releases at thread exit go back at once
    }
  };
  class Shared {
   public:
    void* take() {
      std::lock_guard lock(mutex_);
      if (free_) return std::exchange(free_, *static_cast<void**>(free_));
      if (!first_ && !(first_ = next_ = memory_for_good(kRoom))) return nullptr;
      return next_ + kSize <= first_ + kRoom ? std::exchange(next_, next_ + kSize) : nullptr;
    }
    bool give(void* p) {
      std::lock_guard lock(mutex_);
      if (!first_ || p < first_ || p >= first_ + kRoom) return false;
      *static_cast<void**>(p) = free_;
      free_ = p;
      return true;
    }

   private:
    std::mutex mutex_;
    std::byte *first_ = nullptr, *next_ = nullptr;
    void* free_ = nullptr;  // a free block holds the address of another
  };
  static Shared& shared() {
    static Shared* s = new Shared;  // never destroyed: tensors may outlive static destruction
    return *s;
  }
  static void release(void* p) {
#ifdef __SANITIZE_ADDRESS__
    __asan_unpoison_memory_region(p, kSize);
#endif
    if (!shared().give(p)) std::free(p);
  }

  static inline thread_local Own own;
};

}  // namespace weir
