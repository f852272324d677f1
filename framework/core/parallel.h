// One way to use several threads: OpenMP, the pool that oneDNN uses too.
//
// A child made by fork() has only the thread that forked: a pool which that thread had started waits for threads that are
// gone. The child therefore runs every loop on one thread, for good (core/parallel.cpp).
#pragma once
#include <omp.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <functional>

namespace weir {

constexpr int64_t kGrain = 32768;  // elements; below this one thread is faster than waking two

/// Says that this thread is about to start a pool, ours or that of a library which uses OpenMP.
void starting_pool();
int num_threads();
/// In a child forked from a thread with a pool, the number stays 1.
void set_num_threads(int n);

/// A function of two positions, called where it lies: it must outlive the call that it is given to.
class Share {
 public:
  template <class F> Share(const F& f) : object_(&f), call_([](const void* object, int64_t begin, int64_t end) { (*static_cast<const F*>(object))(begin, end); }) {}
  void operator()(int64_t begin, int64_t end) const { call_(object_, begin, end); }

 private:
  const void* object_;
  void (*call_)(const void*, int64_t, int64_t);
};

/// Calls `f(begin, end)` over [0, n) in contiguous shares of at least `grain`, a few for every thread, on the calling thread and whole when small. A grain
/// below 1, which is what `kGrain / work` is for more work than a grain, counts as 1.
/// The first exception of any share is rethrown here: one may not leave an OpenMP region.
void parallel_for(int64_t n, int64_t grain, Share f);
/// Calls `f` once on every thread of the pool, for what a thread keeps to itself.
void on_every_thread(const std::function<void()>& f);

}  // namespace weir
