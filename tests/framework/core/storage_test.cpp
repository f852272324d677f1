#include "framework/core/storage.h"

#include <cstring>
#include <thread>

#include "framework/core/error.h"
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif
#include "tests/framework/tensors.h"

namespace weir {
using test::expect_error;

constexpr size_t kMiB = 1 << 20;

bool is_aligned(const Storage& s) { return reinterpret_cast<uintptr_t>(s.data) % kAlignment == 0; }

TEST(Storage, IsAlignedWhateverItsSize) {
  for (size_t bytes : {size_t(0), size_t(1), size_t(511), size_t(513), size_t(5000), 3 * kMiB + 1})
    EXPECT_TRUE(is_aligned(*new_storage(bytes))) << bytes;
}

TEST(Storage, HoldsItsBytes) {
  StorageRef s = new_storage(3 * kMiB + 1);
  std::memset(s->data, 7, s->bytes);
  EXPECT_EQ(s->data[s->bytes - 1], std::byte(7));
  EXPECT_EQ(s->version, 0u);
}

TEST(Allocator, GivesAFreedBlockAgain) {
  for (size_t bytes : {size_t(64), size_t(100000), 3 * kMiB}) {
    std::byte* first = new_storage(bytes)->data;
    EXPECT_EQ(new_storage(bytes)->data, first) << bytes;
  }
}

#ifdef __SANITIZE_ADDRESS__
TEST(Allocator, TellsTheSanitizerWhatIsNotInUse) {
  for (size_t bytes : {size_t(60), size_t(5000), 3 * kMiB + 8}) {
    StorageRef s = new_storage(bytes);
    std::byte* p = s->data;
    EXPECT_FALSE(__asan_region_is_poisoned(p, bytes)) << bytes;
    EXPECT_TRUE(__asan_address_is_poisoned(p + bytes)) << bytes;
    s.reset();
    EXPECT_TRUE(__asan_address_is_poisoned(p)) << bytes;
  }
}
#endif

TEST(Allocator, DoesNotSpendALargeBlockOnASmallRequest) {
  std::byte* large = new_storage(8 * kMiB)->data;
  StorageRef small = new_storage(kMiB);
  EXPECT_NE(small->data, large);
}

TEST(Allocator, CountsWhatIsInUseAndWhatIsCached) {
  empty_cache();
  AllocatorStats before = allocator_stats();
  reset_peak();
  {
    StorageRef s = new_storage(4 * kMiB);
    EXPECT_EQ(allocator_stats().in_use, before.in_use + 4 * kMiB);
  }
  AllocatorStats after = allocator_stats();
  EXPECT_EQ(after.in_use, before.in_use);
  EXPECT_EQ(after.peak, before.in_use + 4 * kMiB);
  EXPECT_EQ(after.cached, 4 * kMiB);
  empty_cache();
  EXPECT_EQ(allocator_stats().cached, 0u);
}

TEST(Allocator, KeepsBlocksOfSeveralSizesThatAreAskedForAgain) {
  empty_cache();
  reset_peak();
  for (int round = 0; round < 4; round++)
    for (size_t mib : {10, 12, 16, 20}) new_storage(mib * kMiB);
  EXPECT_EQ(allocator_stats().cached, 58 * kMiB);
  empty_cache();
}

TEST(Allocator, KeepsLittleBesideWhatWasInUseAtOnce) {
  empty_cache();
  reset_peak();
  const size_t in_use = allocator_stats().in_use;
  for (int round = 0; round < 3; round++)
    for (size_t mib = 10; mib < 100; mib += 15) new_storage(mib * kMiB);
  EXPECT_LE(in_use + allocator_stats().cached, allocator_stats().peak + 64 * kMiB);
  empty_cache();
}

TEST(Allocator, TakesBlocksOfOtherThreads) {
  StorageRef s;
  std::thread([&] { s = new_storage(64); }).join();
  s.reset();
  std::thread([] { StorageRef own = new_storage(100000); }).join();
  EXPECT_TRUE(is_aligned(*new_storage(100000)));
}

TEST(Allocator, RaisesWhenTheSystemHasNoMore) {
  size_t in_use = allocator_stats().in_use;
  expect_error<OutOfMemory>([] { new_storage(size_t(1) << 60); }, "not enough memory");
  EXPECT_EQ(allocator_stats().in_use, in_use);
}

TEST(Storage, BorrowedMemoryIsReleasedOnceByTheLastReference) {
  int released = 0;
  char memory[16];
  {
    StorageRef a = borrow_storage(memory, sizeof memory, [](void* n) { ++*static_cast<int*>(n); }, &released);
    StorageRef b = a;
    a.reset();
    EXPECT_EQ(released, 0);
    EXPECT_EQ(static_cast<void*>(b->data), memory);
  }
  EXPECT_EQ(released, 1);
}

TEST(Storage, GrowKeepsTheContentAndNeverShrinks) {
  StorageRef s = new_storage(100);
  std::memset(s->data, 3, 100);
  grow(*s, 100000);
  EXPECT_EQ(s->bytes, 100000u);
  EXPECT_EQ(s->data[99], std::byte(3));
  grow(*s, 10);
  EXPECT_EQ(s->bytes, 100000u);
}

TEST(Storage, BorrowedMemoryCannotGrow) {
  char memory[16];
  StorageRef s = borrow_storage(memory, sizeof memory, [](void*) {}, nullptr);
  expect_error<Error>([&] { grow(*s, 32); }, "foreign memory cannot grow");
}

TEST(Storage, OfMetaTensorsHasASizeAndNoMemory) {
  StorageRef s = new_storage(size_t(1) << 50, {DeviceType::meta});
  EXPECT_EQ(s->data, nullptr);
  EXPECT_EQ(s->bytes, size_t(1) << 50);
}

}  // namespace weir
