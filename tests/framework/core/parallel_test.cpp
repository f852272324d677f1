#include "framework/core/parallel.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <set>
#include <thread>
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

// As where one thread's core has other work: were shares fixed, the two would wait for each other.
TEST(ParallelFor, TakesWhatAnotherThreadHasLeft) {
  if (num_threads() < 2) GTEST_SKIP() << "needs two threads";
  constexpr int64_t n = 64;
  std::atomic<int64_t> done = 0;
  parallel_for(n, 1, [&](int64_t begin, int64_t end) {
    while (begin == 0 && done < n - end) std::this_thread::yield();
    done += end - begin;
  });
  EXPECT_EQ(done, n);
}

TEST(ParallelFor, IsDoneByFewerThreadsThanAskedFor) {
  const int threads = num_threads();
  set_num_threads(threads + 2);
  omp_set_dynamic(1);  // so that no more threads run than there are cores
  for (int64_t n : {int64_t(threads) + 2, int64_t(1000)}) {
    std::atomic<int64_t> done = 0;
    parallel_for(n, 1, [&](int64_t begin, int64_t end) { done += end - begin; });
    EXPECT_EQ(done, n);
  }
  omp_set_dynamic(0);
  set_num_threads(threads);
}

TEST(ParallelFor, CutsTheSamePartsWhoeverTakesThem) {
  std::set<int64_t> first;
  for (int round = 0; round < 20; round++) {
    std::set<int64_t> begins;
    std::mutex mutex;
    parallel_for(1000, 10, [&](int64_t begin, int64_t) {
      std::lock_guard lock(mutex);
      begins.insert(begin);
    });
    if (round == 0) first = begins;
    EXPECT_EQ(begins, first);
  }
}

TEST(OnEveryThread, CallsEachOnce) {
  std::mutex mutex;
  std::vector<std::thread::id> seen;
  on_every_thread([&] {
    std::lock_guard lock(mutex);
    seen.push_back(std::this_thread::get_id());
  });
  EXPECT_EQ(int(seen.size()), num_threads());
  EXPECT_EQ(std::set(seen.begin(), seen.end()).size(), seen.size());
}

TEST(ParallelFor, BringsAnErrorToTheCaller) {
  auto fail = [] { parallel_for(10 * kGrain, kGrain, [](int64_t, int64_t) { throw ValueError("from a share"); }); };
  test::expect_error<ValueError>(fail, "from a share");
}

}  // namespace weir
