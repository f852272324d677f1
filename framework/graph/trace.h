// Trace: records the kernels that a program would run.
//
// It stands below every other layer: autocast, autograd, the backward engine, composites, in-place rules and `out=` run as
// they do in eager mode, on tensors that have a shape, a dtype, strides and no values. So what is recorded is what eager mode
// would have run, kernel by kernel, and no op knows of it.
//
// Storages that the program did not make are its externals (parameters, state), found when they are first touched; those it
// made from Python data are its constants. While it is traced no value can be read, neither a new one nor an external's; only
// a number that an op asks for where it may be a tensor can be an argument's, and then the plan holds for that number alone.
#pragma once
#include "framework/graph/graph.h"
#include "framework/op/call.h"

namespace weir::graph {

/// Where in the user's program this thread is; set by the binding.
extern Place (*current_place)();

/// A number that a trace took from an argument: its bytes in the memory of that number (`Graph::arguments`).
struct Taken {
  int argument = 0;
  int64_t at = 0;
  int64_t bytes = 0;
  auto operator<=>(const Taken&) const = default;
};
/// What a plan depends on beyond kinds and layouts of its arguments: the numbers that it took, and with `whole` where in which memory they lie.
std::string facts_of(const std::vector<Taken>& taken, bool whole, Inputs args);

class Trace final : public Recorder {
 public:
  /// Starts on this thread; raises when one is being made already.
  Trace();
  ~Trace() override;  // ends it, whatever has been recorded
  Trace(const Trace&) = delete;

  /// Stand-ins for the arguments: of their geometry, without values. Arguments that share memory get stand-ins that do. With
  /// `numbers_can_be_taken` ops may read numbers from them, and with `whole` ask for their places in memory: the caller runs the graph only
  /// where `facts_of(taken(), whole, args)` is the same.
  Tensors arguments(Inputs args, bool numbers_can_be_taken = false, bool whole = false);
  /// A stand-in for an argument that comes later than the others: a gradient.
  Tensor late_argument(const Meta& meta);
  void record(const OpType& type, const void* op, Inputs in, Outputs out) override;
  /// Between these nothing is recorded and values can be read, but not those of the trace.
  void pause();
  void resume();
  bool paused() const { return paused_; }
  /// From here on a gradient that would be added to some `.grad` raises: whoever runs the graph would not see it.
  void forbid_accumulation();
  /// The number of a tensor of one element that is an argument's, as it was given; nothing for other tensors.
  std::optional<Scalar> take_number(const Tensor& t);
  const std::vector<Taken>& taken() const { return taken_; }
  /// Whether the program has asked for the place of an argument that is a part of some memory, which raises: `whole` traces know it.
  bool whole() const { return whole_; }
  bool asked_place() const { return asked_place_; }
  void refuse_place(const std::string& what);
  /// The arguments that the program gave another shape or more memory, by position; the stand-in shows what has become of each.
  std::vector<int> reshaped() const;
  /// Ends the trace: the graph that computes `results`. Raises for reshaped arguments unless the caller has put them among the results
  /// and gives their shape to the arguments after a run.
  Graph finish(const Tensors& results, bool reshaped_are_shown = false);
  /// Ends the trace and forgets it.
  void stop();
  size_t size() const { return g_.nodes.size(); }
  /// How many of the nodes draw random numbers.
  int draws() const { return draws_; }

 private:
  int new_value(int buffer, int node, int old);
  int buffer_for(const Tensor& t, bool written);
  int read(const Tensor& t);
  int zeros(int buffer);
  int moved(Storage& s);
  void touch(const StorageRef& s, int symbol);

  Graph g_;
  uint32_t id_;
  bool paused_ = false, running_ = true, whole_ = false, asked_place_ = false;
  int num_arguments_ = 0, draws_ = 0;
  std::vector<int> current_;                 // by buffer: its newest value
  struct Touched { StorageRef storage; uint32_t version, trace; };
  std::vector<Touched> touched_;             // externals, to be put back as they were
  Tensors stand_ins_, given_;                // given_: only where numbers can be taken from them
  std::vector<Taken> taken_;                 // in order, each once
};

/// The trace of this thread, or null.
Trace* current();
/// The number of a tensor of one element, for an op that takes a tensor in a number's place.
Scalar number_of(const Tensor& t);
/// Raises where t lies in the memory of an argument whose place there the trace does not know. `what` begins the sentence.
void check_place_is_known(const Tensor& t, const char* what);

}  // namespace weir::graph
