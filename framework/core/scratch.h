// Memory of a kernel for the time of one call, from the blocks that tensors have. malloc gives large blocks back to the system, from which every call
// would get them again page by page: most of the time of a softmax over 65,536 numbers went there.
#pragma once
#include <cstddef>
#include <new>
#include <utility>
#include <vector>

namespace weir {

/// Of at least `bytes`, aligned to kAlignment. Raises OutOfMemory.
std::byte* scratch_block(size_t bytes);
void return_scratch(std::byte* p, size_t bytes) noexcept;

template <class T> struct ScratchAllocator {
  using value_type = T;
  ScratchAllocator() = default;
  template <class U> ScratchAllocator(const ScratchAllocator<U>&) {}
  T* allocate(size_t n) {
    if (n > size_t(-1) / 2 / sizeof(T)) throw std::bad_array_new_length();
    return reinterpret_cast<T*>(scratch_block(n * sizeof(T)));
  }
  void deallocate(T* p, size_t n) noexcept { return_scratch(reinterpret_cast<std::byte*>(p), n * sizeof(T)); }
  template <class U, class... A> void construct(U* p, A&&... a) {
    if constexpr (sizeof...(A) == 0) ::new (static_cast<void*>(p)) U;
    else ::new (static_cast<void*>(p)) U(std::forward<A>(a)...);
  }
  bool operator==(const ScratchAllocator&) const { return true; }
};

/// A vector whose numbers are left as they are found: `Scratch<float>(n)` has n of any value, `Scratch<float>(n, 0)` zeros.
template <class T> using Scratch = std::vector<T, ScratchAllocator<T>>;

}  // namespace weir
