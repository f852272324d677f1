// vmap's levels and the tensors that lie in them, for `weir.func`.
#include "framework/autograd/batch.h"
#include "framework/binding/convert.h"
#include "framework/op/batch.h"

namespace py = pybind11;

namespace weir {
namespace {

std::atomic<uint64_t> next_level{1};
thread_local uint64_t repeated = 0;  // the next number of a computation that is run again, which its vmaps had the first time

uint64_t enter(int64_t size, const std::string& randomness) {
  const auto kind = randomness == "same" ? Randomness::same : randomness == "different" ? Randomness::different : Randomness::error;
  mode.level = new BatchLevel{.id = repeated ? repeated++ : next_level++, .size = size, .randomness = kind, .outer = mode.level};
  return mode.level->id;
}

void leave() {
  check(mode.level, "vmap: no level is in force that could end");
  delete std::exchange(mode.level, mode.level->outer);
}

const char* randomness_of(uint64_t id) {
  const BatchLevel* l = level_in_force(id);
  return !l || l->randomness == Randomness::error ? "error" : l->randomness == Randomness::same ? "same" : "different";
}

py::list axes_of(const Tensor& t) {
  py::list axes;
  if (t.is_batched())
    for (const BatchAxis& a : t->storage->batch->axes) axes.append(py::make_tuple(a.level, a.size));
  return axes;
}

}  // namespace

void init_batch(py::module_& m) {
  m.def("_vmap_enter", enter, "Begins a vmap over `size` examples on this thread; its level.");
  m.def("_vmap_leave", leave, "Ends this thread's innermost vmap.");
  m.def("_vmap_level", [] { return mode.level ? mode.level->id : 0; }, "The level of this thread's innermost vmap, 0 outside.");
  m.def("_next_vmap", [] { return repeated ? repeated : next_level.load(); }, "The number of the next vmap.");
  m.def("_repeat_vmaps", [](uint64_t from) { return std::exchange(repeated, from); }, "Numbers vmaps of this thread from here on; 0: as new ones again. Gives what was set before.");
  m.def("_vmap_randomness", randomness_of, "What a vmap in force was told of random numbers.");
  m.def("_into_batch", enter_batch, "x without axis `dim`, as one example of the level.");
  m.def("_out_of_batch", leave_batch, "x with the axis of the level as axis `dim`; repeated `size` times where it does not differ between examples.");
  m.def("_batch_axes", axes_of, "(level, size) of each vmap that the tensor differs between the examples of, from the outermost inwards.");
}

}  // namespace weir
