#include "framework/core/huge_pages.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <new>
#include <utility>

namespace weir {
namespace {

uintptr_t number(const std::byte* p) { return reinterpret_cast<uintptr_t>(p); }
uintptr_t down(uintptr_t n) { return n / kHugePage * kHugePage; }
uintptr_t up(uintptr_t n) { return down(n + kHugePage - 1); }

/// `size` bytes, a multiple of kHugePage, from a huge page's boundary on; null where there is no room.
std::byte* map_huge_pages(size_t size) {
  const size_t room = size + kHugePage;
  void* p = mmap(nullptr, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) return nullptr;
  const auto start = reinterpret_cast<uintptr_t>(p), aligned = up(start);
  if (aligned > start) munmap(p, aligned - start);
  if (const size_t tail = start + room - (aligned + size)) munmap(reinterpret_cast<void*>(aligned + size), tail);
  madvise(reinterpret_cast<void*>(aligned), size, MADV_HUGEPAGE);
  return reinterpret_cast<std::byte*>(aligned);
}

}  // namespace

bool HugePages::map_region(size_t size) {
  std::byte* p = map_huge_pages(size);
  if (!p) return false;
  try {
    regions_[p] = {size};
    add_gap(p, size);
  } catch (const std::bad_alloc&) {
    regions_.erase(p);
    munmap(p, size);
    return false;
  }
  return true;
}

HugePages::Regions::const_iterator HugePages::region_of(const std::byte* p) const {
  auto it = regions_.upper_bound(const_cast<std::byte*>(p));
  if (it == regions_.begin()) return regions_.end();
  --it;
  return p < it->first + it->second.size ? it : regions_.end();
}
bool HugePages::owns(const std::byte* p) const { return region_of(p) != regions_.end(); }

void HugePages::add_gap(std::byte* p, size_t size) {
  const auto gap = gaps_.emplace(p, size).first;
  try {
    by_size_.emplace(size, p);
  } catch (const std::bad_alloc&) {
    gaps_.erase(gap);
    throw;
  }
}
void HugePages::change_gap(Gaps::iterator gap, std::byte* p, size_t size) {
  auto sized = by_size_.extract({gap->second, gap->first});
  auto node = gaps_.extract(gap);
  sized.value() = {size, p}, node.key() = p, node.mapped() = size;
  by_size_.insert(std::move(sized)), gaps_.insert(std::move(node));
}
void HugePages::erase_gap(Gaps::iterator gap) {
  by_size_.erase({gap->second, gap->first});
  gaps_.erase(gap);
}

std::byte* HugePages::take(size_t size) {
  auto smallest = by_size_.lower_bound({size, nullptr});
  if (smallest == by_size_.end()) {
    if (size > SIZE_MAX / 2 || !map_region(size < kOwnRegion ? kRegion : up(size))) return nullptr;
    smallest = by_size_.lower_bound({size, nullptr});
  }
  std::byte* p = smallest->second;
  const auto gap = gaps_.find(p);
  if (gap->second == size) erase_gap(gap);
  else change_gap(gap, p + size, gap->second - size);
  regions_.at(region_of(p)->first).in_use += size;
  return p;
}

void HugePages::give(std::byte* p, size_t size) {
  const auto region = regions_.find(region_of(p)->first);
  std::byte* const end = region->first + region->second.size;
  const bool is_last = region->second.in_use == size;
  // The gap that this becomes, with its neighbours of the same region.
  auto next = gaps_.lower_bound(p), before = next == gaps_.begin() ? gaps_.end() : std::prev(next);
  const bool joins_before = before != gaps_.end() && before->first + before->second == p && before->first >= region->first;
  const bool joins_next = next != gaps_.end() && next->first == p + size && next->first < end;
  std::byte *from = joins_before ? before->first : p, *to = joins_next ? next->first + next->second : p + size;
  if (joins_next && (joins_before || is_last)) erase_gap(next);
  if (is_last) {
    if (joins_before) erase_gap(before);
    munmap(region->first, region->second.size);
    regions_.erase(region);
    return;
  }
  if (joins_before) change_gap(before, from, size_t(to - from));
  else if (joins_next) change_gap(next, from, size_t(to - from));
  else {
    try {
      add_gap(from, size);
    } catch (const std::bad_alloc&) {  // no room to note it: it stays in use
      return;
    }
  }
  region->second.in_use -= size;
  // Of huge pages that the block touched, those that are free now; the others of the gap were given back before.
  const uintptr_t first = std::max(down(number(p)), up(number(from))), last = std::min(up(number(p + size)), down(number(to)));
  if (first < last) madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
}

}  // namespace weir
