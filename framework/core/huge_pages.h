// Memory for blocks of whole pages, cut from regions of huge pages.
//
// What malloc gives lies on pages of 4 KiB. A training step reads each of its parameters a few times, and where a machine is slow to look such a page
// up (nested page tables, a host that watches which pages are used) casts and updates of parameters of 1 MiB ran at 2 GB/s of 20. The update of the
// 160 small parameters of a ResNet50 took 8.5 ms while each lay on a page of its own.
#pragma once
#include <cstddef>
#include <map>
#include <set>
#include <utility>

namespace weir {

constexpr size_t kHugePage = 2 << 20;

/// Not for several threads at once.
class HugePages {
 public:
  static constexpr size_t kRegion = 32 << 20, kUnit = 4096;  // sizes are multiples of kUnit
  static constexpr size_t kOwnRegion = 8 << 20;  // from this size, a block that fits nowhere gets a region that ends with its last huge page

  /// Null where the system has no room for a region. At the lowest place of the smallest gap that holds it.
  std::byte* take(size_t size);
  /// Whole huge pages that become free are given back to the system, and regions of which nothing is in use.
  void give(std::byte* p, size_t size);
  bool owns(const std::byte* p) const;

 private:
  struct Region {
    size_t size, in_use = 0;
  };
  using Regions = std::map<std::byte*, Region>;  // by address
  using Gaps = std::map<std::byte*, size_t>;     // by address: neighbours of one region are one gap
  Regions::const_iterator region_of(const std::byte* p) const;
  bool map_region(size_t size);
  void add_gap(std::byte* p, size_t size);
  void change_gap(Gaps::iterator gap, std::byte* p, size_t size);
  void erase_gap(Gaps::iterator gap);

  Regions regions_;
  Gaps gaps_;
  std::set<std::pair<size_t, std::byte*>> by_size_;  // the same gaps
};

}  // namespace weir
