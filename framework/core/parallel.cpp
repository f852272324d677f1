#include "framework/core/parallel.h"

#include <omp.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <vector>

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

// A share is cut into parts. Threads take those of their own share first, in order, then what others have left: one that is late, since memory is slow to
// come to it or its core has other work, does not keep the others waiting. Parts, and so all sums, are the same whoever takes them.
constexpr int64_t kParts = 8, kGrains = 2;  // of a share, at most; of a part, at least, below which taking it costs more than waiting
struct alignas(64) Taken { std::atomic<int64_t> parts = 0; };

template <class F> void on_threads(int count, F&& f) {
  starting_pool();
  std::exception_ptr error;
#pragma omp parallel num_threads(count)
  {
    try {
      f(omp_get_thread_num());
    } catch (...) {
#pragma omp critical
      if (!error) error = std::current_exception();
    }
  }
  if (error) std::rethrow_exception(error);
}

}  // namespace

void parallel_for(int64_t n, int64_t grain, Share f) {
  if (n <= 0) return;
  grain = std::max<int64_t>(grain, 1);
  const int64_t most = (n + grain - 1) / grain;
  const int threads = most <= 1 || omp_in_parallel() ? 1 : int(std::min<int64_t>(omp_get_max_threads(), most));
  if (threads <= 1) return f(0, n);
  const int64_t each = std::clamp<int64_t>(most / threads / kGrains, 1, kParts), parts = each * threads;
  auto run = [&](int64_t part) { f(n * part / parts, n * (part + 1) / parts); };
  if (each == 1) {
    return on_threads(threads, [&](int me) {
      for (int64_t part = me; part < parts; part += omp_get_num_threads()) run(part);  // there may be fewer than were asked for
    });
  }
  thread_local std::vector<Taken> of_thread;
  if (of_thread.size() < size_t(threads)) of_thread = std::vector<Taken>(threads);
  std::vector<Taken>& taken = of_thread;  // of the calling thread, where all look
  for (int i = 0; i < threads; i++) taken[i].parts.store(0, std::memory_order_relaxed);
  on_threads(threads, [&](int me) {
    for (int i = 0; i < threads; i++) {
      const int share = (me + i) % threads;
      for (int64_t k; (k = taken[share].parts.fetch_add(1, std::memory_order_relaxed)) < each;) run(share * each + k);
    }
  });
}

void on_every_thread(const std::function<void()>& f) {
  on_threads(omp_get_max_threads(), [&](int) { f(); });
}

void starting_pool() { has_pool = true; }
int num_threads() { return omp_get_max_threads(); }
void set_num_threads(int n) { omp_set_num_threads(serial ? 1 : n); }

}  // namespace weir
