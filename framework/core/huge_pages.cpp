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

}  // namespace

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

bool HugePages::map_region() {
  std::byte* p = map_huge_pages(kRegion);
  if (!p) return false;
  try {
    regions_[p] = 0, gaps_[p] = kRegion;
  } catch (const std::bad_alloc&) {
    regions_.erase(p);
    munmap(p, kRegion);
    return false;
  }
  return true;
}

std::byte* HugePages::region_of(const std::byte* p) const {
  auto it = regions_.upper_bound(const_cast<std::byte*>(p));
  if (it == regions_.begin()) return nullptr;
  std::byte* region = std::prev(it)->first;
  return p < region + kRegion ? region : nullptr;
}
bool HugePages::owns(const std::byte* p) const { return region_of(p); }

HugePages::Gaps::iterator HugePages::smallest(size_t size) {
  auto best = gaps_.end();
  for (auto it = gaps_.begin(); it != gaps_.end(); ++it)
    if (it->second >= size && (best == gaps_.end() || it->second < best->second)) best = it;
  return best;
}

std::byte* HugePages::take(size_t size) {
  auto gap = smallest(size);
  if (gap == gaps_.end()) {
    if (!map_region()) return nullptr;
    gap = smallest(size);
  }
  std::byte* p = gap->first;
  auto node = gaps_.extract(gap);
  node.key() += size, node.mapped() -= size;
  if (node.mapped() > 0) gaps_.insert(std::move(node));
  regions_.at(region_of(p)) += size;
  return p;
}

void HugePages::give(std::byte* p, size_t size) {
  const auto region = regions_.find(region_of(p));
  const bool is_last = region->second == size;
  // The gap that this becomes, with its neighbours of the same region.
  auto next = gaps_.lower_bound(p), before = next == gaps_.begin() ? gaps_.end() : std::prev(next);
  const bool joins_before = before != gaps_.end() && before->first + before->second == p && before->first >= region->first;
  const bool joins_next = next != gaps_.end() && next->first == p + size && next->first < region->first + kRegion;
  std::byte *from = joins_before ? before->first : p, *to = joins_next ? next->first + next->second : p + size;
  if (is_last) {
    if (joins_before) gaps_.erase(before);
    if (joins_next) gaps_.erase(next);
    munmap(region->first, kRegion);
    regions_.erase(region);
    return;
  }
  if (joins_before) {
    before->second = size_t(to - from);
    if (joins_next) gaps_.erase(next);
  } else if (joins_next) {
    auto node = gaps_.extract(next);
    node.key() = from, node.mapped() = size_t(to - from);
    gaps_.insert(std::move(node));
  } else {
    try {
      gaps_[from] = size;
    } catch (const std::bad_alloc&) {  // no room to note it: it stays in use
      return;
    }
  }
  region->second -= size;
  // Of huge pages that the block touched, those that are free now; the others of the gap were given back before.
  const uintptr_t first = std::max(down(number(p)), up(number(from))), last = std::min(up(number(p + size)), down(number(to)));
  if (first < last) madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
}

}  // namespace weir
