#include "framework/core/parallel.h"

#include <omp.h>
#include <pthread.h>

#include <algorithm>
#include <exception>

namespace weir {
namespace {

thread_local bool has_pool = false;  // OpenMP keeps a pool per thread that starts parallel regions
bool serial = false;                 // in a child that lost its pool; written only while it has one thread

struct AtFork {
  AtFork() {
    pthread_atfork(nullptr, nullptr, [] {
      if (!has_pool) return;
      serial = true;
      omp_set_num_threads(1);
    });
  }
} at_fork;

}  // namespace

void parallel_for(int64_t n, int64_t grain, Share f) {
  if (n <= 0) return;
  grain = std::max<int64_t>(grain, 1);
  const int64_t most = (n + grain - 1) / grain;
  const int threads = most <= 1 || omp_in_parallel() ? 1 : int(std::min<int64_t>(omp_get_max_threads(), most));
  if (threads <= 1) return f(0, n);
  starting_pool();
  std::exception_ptr error;
#pragma omp parallel num_threads(threads)
  {
    const int64_t count = omp_get_num_threads(), me = omp_get_thread_num(), begin = n * me / count, end = n * (me + 1) / count;
    try {
      if (begin < end) f(begin, end);
    } catch (...) {
#pragma omp critical
      if (!error) error = std::current_exception();
    }
  }
  if (error) std::rethrow_exception(error);
}

void starting_pool() { has_pool = true; }
int num_threads() { return omp_get_max_threads(); }
void set_num_threads(int n) { omp_set_num_threads(serial ? 1 : n); }

}  // namespace weir
