// Memory for blocks of some pages, cut from regions of huge pages.
//
// What malloc gives lies on pages of 4 KiB. A training step reads each of its parameters a few times, and where a machine is slow to look such a page
// up (nested page tables, a host that watches which pages are used) casts and updates of parameters of 1 MiB ran at 2 GB/s of 20.
#pragma once
#include <cstddef>
#include <map>

namespace weir {

constexpr size_t kHugePage = 2 << 20;

/// Not for several threads at once.
class HugePages {
 public:
  static constexpr size_t kRegion = 32 << 20, kUnit = 4096;  // sizes are multiples of kUnit, at most kRegion

  /// Null where the system has no room for a region. At the lowest place of the smallest gap that holds it.
  std::byte* take(size_t size);
  /// Whole huge pages that become free are given back to the system, and regions of which nothing is in use.
  void give(std::byte* p, size_t size);
  bool owns(const std::byte* p) const;

 private:
  using Gaps = std::map<std::byte*, size_t>;  // by address: neighbours of one region are one gap
  std::byte* region_of(const std::byte* p) const;
  Gaps::iterator smallest(size_t size);
  bool map_region();

  std::map<std::byte*, size_t> regions_;  // by address: bytes in use
  Gaps gaps_;
};

/// `size` bytes of their own, a multiple of kUnit, from a huge page's boundary on; null where there is no room.
std::byte* map_huge_pages(size_t size);

}  // namespace weir
