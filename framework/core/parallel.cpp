#include "framework/core/parallel.h"

#include <pthread.h>

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

void starting_pool() { has_pool = true; }
int num_threads() { return omp_get_max_threads(); }
void set_num_threads(int n) { omp_set_num_threads(serial ? 1 : n); }

}  // namespace weir
