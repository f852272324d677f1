#include "framework/core/parallel.h"

#include <algorithm>
#include <atomic>
#include <vector>

#include "tests/framework/tensors.h"

namespace weir {

TEST(ParallelFor, VisitsEveryElementOnce) {
  constexpr int64_t n = 10 * kGrain + 7;
  std::vector<std::atomic<int>> seen(n);
  parallel_for(n, kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) seen[i]++;
  });
  EXPECT_TRUE(std::all_of(seen.begin(), seen.end(), [](auto& x) { return x == 1; }));
}

TEST(ParallelFor, StaysOnTheCallingThreadWhenSmall) {
  int calls = 0;
  parallel_for(kGrain, kGrain, [&](int64_t begin, int64_t end) { calls += end - begin == kGrain; });
  parallel_for(0, kGrain, [&](int64_t, int64_t) { calls++; });
  EXPECT_EQ(calls, 1);
}

TEST(ParallelFor, SharesOneByOneWhatIsMoreThanAGrainEach) {
  std::atomic<int> calls = 0;
  parallel_for(7, kGrain / (2 * kGrain), [&](int64_t begin, int64_t end) { calls += int(end - begin); });
  EXPECT_EQ(calls, 7);
}

TEST(ParallelFor, BringsAnErrorToTheCaller) {
  auto fail = [] { parallel_for(10 * kGrain, kGrain, [](int64_t, int64_t) { throw ValueError("from a share"); }); };
  test::expect_error<ValueError>(fail, "from a share");
}

}  // namespace weir
