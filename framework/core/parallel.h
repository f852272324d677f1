// One way to use several threads: OpenMP, the pool that oneDNN uses too.
//
// A child made by fork() has only the thread that forked: a pool which that thread had started waits for threads that are
// gone. The child therefore runs every loop on one thread, for good (core/parallel.cpp).
#pragma once
#include <omp.h>

#include <algorithm>
#include <cstdint>
#include <exception>

namespace weir {

constexpr int64_t kGrain = 32768;  // elements; below this one thread is faster than waking two

/// Says that this thread is about to start a pool, ours or that of a library which uses OpenMP.
void starting_pool();
int num_threads();
/// In a child forked from a thread with a pool, the number stays 1.
void set_num_threads(int n);

/// Calls `f(begin, end)` over [0, n) in contiguous shares of at least `grain`, on the calling thread when small. A grain below 1,
/// which is what `kGrain / work` is for more work than a grain, counts as 1.
/// The first exception of any share is rethrown here: one may not leave an OpenMP region.
template <class F>
void parallel_for(int64_t n, int64_t grain, F&& f) {
  if (n <= 0) return;
  grain = std::max<int64_t>(grain, 1);
  int64_t most = (n + grain - 1) / grain;
  int threads = most <= 1 || omp_in_parallel() ? 1 : int(std::min<int64_t>(omp_get_max_threads(), most));
  if (threads <= 1) {
    f(int64_t(0), n);
    return;
  }
  starting_pool();
  std::exception_ptr error;
#pragma omp parallel num_threads(threads)
  {
    int64_t count = omp_get_num_threads(), me = omp_get_thread_num();
    int64_t begin = n * me / count, end = n * (me + 1) / count;
    try {
      if (begin < end) f(begin, end);
    } catch (...) {
#pragma omp critical
      if (!error) error = std::current_exception();
    }
  }
  if (error) std::rethrow_exception(error);
}

}  // namespace weir
