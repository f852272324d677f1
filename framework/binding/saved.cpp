#include "framework/binding/saved.h"

#include "framework/autograd/forward.h"
#include "framework/autograd/nodes.h"
#include "framework/binding/convert.h"
#include "framework/graph/members.h"

namespace py = pybind11;

namespace weir {
namespace {

constexpr std::string_view kShown = "_saved_", kRaw = "_raw_saved_";

/// One thing that a call may have kept, under the name of the op's parameter or result.
struct Place {
  enum Kind : uint8_t { input, inputs, output, attribute } kind;
  std::string_view name;
  int at, count = 1;  // number of the first input, of the output or of the field
};

std::vector<Place> places(const RecordedCall& call) {
  const Signature& s = *call.op_type().signature;
  int alone = 0, next = 0;
  for (int k = 0; k < s.n; k++) alone += s.params[k].ty == Ty::tensor || s.params[k].ty == Ty::opt_tensor;
  std::vector<Place> found;
  for (int k = 0; k < s.n; k++) {
    const Param& p = s.params[k];
    const std::string_view name = p.name == "input" ? "self" : p.name;  // as in the schemas that PyTorch names them by
    if (!is_input(p.ty)) {
      if (p.ty != Ty::places && p.ty != Ty::generator) found.push_back({Place::attribute, name, k});
      continue;
    }
    const bool list = p.ty == Ty::tensors;
    const int count = list ? call.num_inputs() - alone : 1;
    found.push_back({list ? Place::inputs : Place::input, name, next, count});
    next += count;
  }
  static const auto& numbered = *new std::array<std::string, kMaxOutputs>([] {
    std::array<std::string, kMaxOutputs> names;
    for (int i = 0; i < kMaxOutputs; i++) names[i] = "result" + std::to_string(i);
    return names;
  }());
  for (int i = 0; i < s.num_outputs; i++)
    found.push_back({Place::output, s.num_outputs == 1 ? "result" : s.outputs[i].empty() ? std::string_view(numbered[i]) : s.outputs[i], i});
  return found;
}

bool is_kept(const RecordedCall& call, const Place& p) {
  if (p.kind == Place::attribute) return true;
  if (call.freed()) return p.kind == Place::output ? call.op_type().saves.outputs : call.op_type().saves.inputs;
  if (p.kind == Place::output) return call.keeps_output(p.at);
  for (int i = 0; i < p.count; i++)
    if (call.keeps_input(p.at + i)) return true;
  return false;
}

py::object number(const Scalar& s) { return py::reinterpret_steal<py::object>(scalar_object(s)); }

// A number that the call was given stays one.
py::object shown(const Tensor& t) {
  if (!t) return py::none();
  return t.has_flag(kWrappedNumber) ? number(item(t)) : py::cast(t);
}

py::object member(const RecordedCall& call, int k) {
  const Field& field = call.op_type().fields[k];
  py::object found = py::none();
  auto one = [&](const auto& x) -> py::object {
    using T = std::remove_cvref_t<decltype(x)>;
    if constexpr (std::is_same_v<T, Str>) return py::str(std::string(x.view()));
    else if constexpr (std::is_same_v<T, Scalar>) return number(x);
    else if constexpr (std::is_same_v<T, Dims> || std::is_same_v<T, Floats>) {
      py::tuple numbers(x.n);
      for (int i = 0; i < x.n; i++) numbers[i] = x[i];
      return numbers;
    } else if constexpr (std::is_same_v<T, Device>) return py::reinterpret_steal<py::object>(device_object(x));
    else return py::cast(x);
  };
  graph::visit_member(field.ty, static_cast<const std::byte*>(call.attributes()) + field.offset, [&]<class T>(const T& x) {
    if constexpr (requires { x.has_value(); }) found = x ? one(*x) : py::none();
    else found = one(x);
  });
  return found;
}

py::object value(const RecordedCall& call, const Place& p) {
  if (p.kind == Place::attribute) return member(call, p.at);
  check(!call.freed(), kReleased);
  if (p.kind == Place::output) {
    const Tensor t = call.output(p.at);
    return shown(is_inexact(t.dtype()) ? t : without_history(t));
  }
  if (p.kind == Place::input) return shown(call.input(p.at));
  py::tuple all(p.count);
  for (int i = 0; i < p.count; i++) all[i] = shown(call.input(p.at + i));
  return all;
}

/// What `_raw_saved_` gives: a saved tensor that is not unpacked yet.
struct SavedTensor {
  NodeRef node;
  Place place;
  RecordedCall& call() const { return *dynamic_cast<RecordedCall*>(node.get()); }
};

py::object raw(const NodeRef& node, const Place& p) {
  if (p.kind != Place::inputs) return py::cast(SavedTensor{node, p});
  py::tuple all(p.count);
  for (int i = 0; i < p.count; i++) all[i] = py::cast(SavedTensor{node, {Place::input, p.name, p.at + i}});
  return all;
}

}  // namespace

std::vector<std::string> saved_names(const NodeRef& node) {
  std::vector<std::string> names;
  const auto* call = dynamic_cast<const RecordedCall*>(node.get());
  if (!call) return names;
  for (const Place& p : places(*call)) {
    if (!is_kept(*call, p)) continue;
    names.push_back(std::string(kShown).append(p.name));
    if (p.kind != Place::attribute) names.push_back(std::string(kRaw).append(p.name));
  }
  return names;
}

py::object saved_attribute(const NodeRef& node, std::string_view name) {
  const bool is_raw = name.starts_with(kRaw);
  const auto* call = dynamic_cast<const RecordedCall*>(node.get());
  if (!call || (!is_raw && !name.starts_with(kShown))) return {};
  name.remove_prefix(is_raw ? kRaw.size() : kShown.size());
  if (name == "input") name = "self";
  for (const Place& p : places(*call))
    if (p.name == name && is_kept(*call, p) && !(is_raw && p.kind == Place::attribute)) return is_raw ? raw(node, p) : value(*call, p);
  return {};
}

void init_saved(py::module_& m) {
  py::class_<SavedTensor>(m, "SavedTensor")
      .def("unpack", [](const SavedTensor& s) { return value(s.call(), s.place); }, "The tensor, through the hooks that packed it.")
      .def("register_hooks", [](const SavedTensor& s, py::function pack, py::function unpack) {
        s.call().pack(s.place.kind == Place::output, s.place.at, saved_hooks_of(std::move(pack), std::move(unpack)));
      }, "Packs the tensor now by `pack`; backward gets what `unpack` makes of it.");
}

}  // namespace weir
