#include "framework/core/scratch.h"

#include <numeric>

#include "framework/core/storage.h"
#include "tests/framework/tensors.h"

namespace weir {

TEST(Scratch, HoldsWhatIsWritten) {
  Scratch<int> v(100000);
  std::iota(v.begin(), v.end(), 0);
  Scratch<int> moved = std::move(v);
  moved.resize(100001);
  moved.back() = -1;
  EXPECT_EQ(moved[99999], 99999);
  EXPECT_EQ(moved[100000], -1);
}

TEST(Scratch, IsFilledOnlyWhereAsked) {
  const Scratch<double> zeros(70000, 0.0);
  EXPECT_EQ(std::accumulate(zeros.begin(), zeros.end(), 0.0), 0.0);
}

TEST(Scratch, LeavesItsBlockForTheNextOne) {
  const float* first;
  {
    Scratch<float> v(1 << 20);
    first = v.data();
  }
  EXPECT_EQ(Scratch<float>(1 << 20).data(), first);
}

TEST(Scratch, CountsAsMemoryInUse) {
  const size_t before = allocator_stats().in_use;
  const Scratch<float> v(1 << 20);
  EXPECT_GE(allocator_stats().in_use, before + (4u << 20));
}

TEST(Scratch, RefusesMoreThanThereCanBe) { EXPECT_THROW(ScratchAllocator<double>().allocate(size_t(-1) / 4), std::bad_array_new_length); }

}  // namespace weir
