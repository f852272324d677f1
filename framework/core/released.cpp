#include "framework/core/released.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "framework/core/error.h"
#include "framework/core/scratch.h"

namespace weir {
namespace {

struct Region {
  std::byte* data;
  size_t bytes;       // of the longest tensor that there can be
  bool seen = false;  // by NumPy or DLPack
};

void free_region(void* context) {
  auto* region = static_cast<Region*>(context);
  munmap(region->data, region->bytes);
  delete region;
}

Region* region_of(const Storage& s) { return s.release == free_region ? static_cast<Region*>(s.context) : nullptr; }

/// The storage's first `kept` bytes at new addresses, enough for all that its tensors show.
Region* moved(const Storage& s, size_t kept) {
  void* p = mmap(nullptr, s.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  check<OutOfMemory>(p != MAP_FAILED, "resize_: there are no addresses left for ", s.bytes, " bytes");
  std::memcpy(p, s.data, kept);
  return new Region{static_cast<std::byte*>(p), s.bytes};
}

}  // namespace

bool resizable(const Storage& s) {
  if (const Region* region = region_of(s)) return !region->seen;
  return !s.release && !s.context;
}

void keep_in_place(Storage& s) {
  if (Region* region = region_of(s)) region->seen = true;
  else if (!s.context) s.context = &s;
}

void shrink(Storage& s, size_t bytes) {
  check(!s.symbolic && !current_trace, "resize_: a storage cannot be made smaller in a graph or a vmap");
  check(resizable(s), "Trying to resize storage that is not resizable");
  if (s.data && bytes < s.bytes) {
    Region* region = region_of(s);
    if (region) {
      const size_t page = size_t(sysconf(_SC_PAGESIZE)), from = (bytes + page - 1) / page * page;
      if (from < region->bytes) madvise(region->data + from, region->bytes - from, MADV_DONTNEED);
    } else {
      region = moved(s, bytes);
      return_scratch(s.data, s.bytes);
      s.data = region->data, s.release = free_region, s.context = region;
    }
  }
  s.bytes = bytes;
}

bool regrow(Storage& s, size_t bytes) {
  Region* region = region_of(s);
  if (!region) return false;
  if (bytes > region->bytes) {
    check(!region->seen, "Trying to resize storage that is not resizable");
    std::byte* data = scratch_block(bytes);
    std::memcpy(data, region->data, s.bytes);
    free_region(region);
    s.data = data, s.release = nullptr, s.context = nullptr;
  }
  s.bytes = bytes;
  return true;
}

}  // namespace weir
