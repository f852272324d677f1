// Plan: a graph made ready to run. Every buffer has its place, every kernel its tensors; a run calls the kernels in order.
//
// Temporary buffers share one arena, laid out by when they live. Results get memory of their own in every run. A run allocates
// nothing else, knows no Python and no autograd. Not reentrant: concurrent runs wait for each other.
#pragma once
#include <mutex>

#include "framework/core/scratch.h"
#include "framework/graph/graph.h"
#include "framework/op/carried.h"

namespace weir::graph {

struct Placement {
  int64_t offset = -1;     // in the arena; -1: not there
  int first = 0, last = 0;  // nodes between which it lives
};

/// Offsets for buffers of `bytes` that live from `first` to `last`, so that two that live at once do not overlap.
/// Returns the size of the arena. Buffers of offset -1 are placed; others are left out.
struct Interval { int first, last; size_t bytes; int64_t offset; };
size_t place(std::vector<Interval>& intervals);

class Plan {
 public:
  explicit Plan(Graph g);
  /// `args` are as those the graph was traced with: equal geometries over equally shared memory.
  Tensors run(Inputs args);
  const Graph& graph() const { return g_; }
  /// Has memory been written that the plan takes as constant?
  bool stale() const;
  size_t arena_bytes() const { return arena_bytes_; }
  /// The most that temporaries and results hold at once: no plan of this order needs less.
  size_t live_bytes() const { return live_bytes_; }
  /// Node by node, the seconds of one run.
  std::vector<double> profile(Inputs args);
  /// What lives where, and when memory is highest.
  std::string memory_report() const;

 private:
  struct Step {
    Kernel kernel;
    const void* op;
    uint32_t in, num_in, out, num_out;
    const OpType* carried = nullptr;  // of a step some of whose tensors are only stored
  };
  void run_step(const Step& s) {
    Inputs in(&tensors_[s.in], s.num_in);
    Outputs out(&tensors_[s.out], s.num_out);
    if (s.carried) [[unlikely]] run_cpu_kernel(*s.carried, s.op, in, out);
    else s.kernel(s.op, in, out);
  }
  void lay_out();
  void share(const std::vector<char>& is_result);
  void bind();
  void begin(Inputs args);
  Tensors end(Inputs args);
  void reset();

  Graph g_;
  std::mutex mutex_;
  size_t arena_bytes_ = 0, live_bytes_ = 0;
  int peak_node_ = 0;
  StorageRef arena_;
  std::vector<int> slots_;             // by buffer: the one whose memory it takes over, or itself
  std::vector<Interval> places_;       // by buffer
  std::vector<StorageRef> storages_;   // by buffer: what the kernels' tensors lie over
  std::vector<Tensor> tensors_;        // of all steps
  std::vector<Step> steps_;
  Scratch<std::byte> ops_;
  std::vector<int> result_buffers_, written_;
  std::vector<StorageRef> fresh_;      // by result buffer, during a run
};

}  // namespace weir::graph
