#include "framework/core/huge_pages.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "tests/framework/tensors.h"

namespace weir {
namespace {

constexpr size_t kPage = HugePages::kUnit;

struct Block { std::byte* p; size_t size; std::byte mark; };

bool is_resident(std::byte* p) {
  unsigned char r = 0;
  return mincore(p, kPage, &r) == 0 && (r & 1);
}

TEST(HugePages, CutsNeighboursFromOneRegion) {
  HugePages pages;
  std::byte *a = pages.take(kPage), *b = pages.take(3 * kPage);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(a) % kHugePage, 0u);
  EXPECT_EQ(b, a + kPage);
  EXPECT_TRUE(pages.owns(b + 3 * kPage - 1));
  int other;
  EXPECT_FALSE(pages.owns(reinterpret_cast<std::byte*>(&other)));
  pages.give(a, kPage), pages.give(b, 3 * kPage);
  EXPECT_FALSE(pages.owns(a));  // the region went with its last block
}

TEST(HugePages, JoinsGapsAndTakesTheSmallestThatHolds) {
  HugePages pages;
  std::byte* p[6];
  for (std::byte*& q : p) q = pages.take(4 * kPage);
  pages.give(p[0], 4 * kPage), pages.give(p[1], 4 * kPage);  // eight pages
  pages.give(p[3], 4 * kPage);                                // four
  EXPECT_EQ(pages.take(4 * kPage), p[3]);
  EXPECT_EQ(pages.take(8 * kPage), p[0]);
  pages.give(p[4], 4 * kPage), pages.give(p[2], 4 * kPage), pages.give(p[3], 4 * kPage);  // the one between two gaps last
  EXPECT_EQ(pages.take(12 * kPage), p[2]);
}

TEST(HugePages, TakesWhatFillsARegion) {
  HugePages pages;
  std::byte *all = pages.take(HugePages::kRegion), *more = pages.take(kPage);
  EXPECT_FALSE(more >= all && more < all + HugePages::kRegion);
  pages.give(all, HugePages::kRegion);
  EXPECT_FALSE(pages.owns(all));
  EXPECT_TRUE(pages.owns(more));
}

// What a large block leaves of its last huge page is there for others, and goes with them.
TEST(HugePages, EndsALargeRegionWithItsLastPage) {
  HugePages pages;
  constexpr size_t kLarge = HugePages::kOwnRegion + kHugePage / 2;
  std::byte *large = pages.take(kLarge), *small = pages.take(kHugePage / 2);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(large) % kHugePage, 0u);
  EXPECT_EQ(small, large + kLarge);
  EXPECT_FALSE(pages.owns(small + kHugePage / 2));
  pages.give(large, kLarge);
  EXPECT_TRUE(pages.owns(small));
  EXPECT_EQ(pages.take(kLarge), large);
  pages.give(small, kHugePage / 2), pages.give(large, kLarge);
  EXPECT_FALSE(pages.owns(small));
}

TEST(HugePages, HasNoRoomForMoreThanThereIs) {
  HugePages pages;
  EXPECT_EQ(pages.take(size_t(1) << 60), nullptr);
  EXPECT_EQ(pages.take(SIZE_MAX / kPage * kPage), nullptr);
}

TEST(HugePages, GivesWholePagesBack) {
  HugePages pages;
  std::byte *kept = pages.take(kPage), *block = pages.take(3 * kHugePage);
  std::memset(kept, 1, kPage), std::memset(block, 1, 3 * kHugePage);
  std::byte* inside = kept + 2 * kHugePage;
  EXPECT_TRUE(is_resident(inside));
  pages.give(block, 3 * kHugePage);
  EXPECT_FALSE(is_resident(inside));
  EXPECT_EQ(kept[kPage - 1], std::byte(1));
}

// Random blocks never overlap, keep what is written into them, and nothing is left of them at the end.
TEST(HugePages, KeepBlocksApart) {
  HugePages pages;
  std::mt19937 random(5);
  std::vector<Block> blocks;
  for (int i = 0; i < 4000; i++) {
    if (blocks.size() < 40 || random() % 2) {
      const size_t size = (random() % 8 ? 1 + random() % 64 : 1 + random() % 4000) * kPage;
      const Block b{pages.take(size), size, std::byte(random())};
      ASSERT_NE(b.p, nullptr);
      b.p[0] = b.p[size - 1] = b.mark;
      blocks.push_back(b);
    } else {
      const size_t k = random() % blocks.size();
      ASSERT_TRUE(blocks[k].p[0] == blocks[k].mark && blocks[k].p[blocks[k].size - 1] == blocks[k].mark);
      pages.give(blocks[k].p, blocks[k].size);
      blocks[k] = blocks.back(), blocks.pop_back();
    }
  }
  for (const Block& b : blocks) {
    for (const Block& o : blocks) ASSERT_TRUE(&b == &o || b.p + b.size <= o.p || o.p + o.size <= b.p);
    ASSERT_TRUE(b.p[0] == b.mark && b.p[b.size - 1] == b.mark);
  }
  for (const Block& b : blocks) pages.give(b.p, b.size);
  for (const Block& b : blocks) EXPECT_FALSE(pages.owns(b.p));
}

}  // namespace
}  // namespace weir
