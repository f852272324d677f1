// What the registry says of every op, to Python.
#include "framework/binding/op_function.h"
#include "framework/binding/tensor_object.h"

namespace py = pybind11;

namespace weir {

const char* module_name(Module module) {
  static constexpr const char* kModuleNames[] = {"torch", "nn.functional", "method", "special", "linalg", "fft", "hidden", "torch"};  // by Module
  return kModuleNames[int(module)];
}

void init_schema(py::module_& m) {
  m.def("schema", [] {
    py::list out;
    for (OpType* t : registry()) {
      const Signature& s = *t->signature;
      py::dict d;
      d["name"] = std::string(s.name) + (s.overload.empty() ? "" : "." + std::string(s.overload));
      d["signature"] = std::string(s.text);
      d["doc"] = t->doc;
      d["module"] = module_name(t->module);
      d["kind"] = t->geometry ? "view" : t->compose ? "composite" : "kernel";
      d["notation"] = t->notation.text;
      d["dynamic_shape"] = t->dynamic_shape;
      d["inplace"] = t->inplace.offered;
      if (t->calling.creates) d["factory"] = true;
      if (t->module == Module::function) d["method"] = false;
      if (only_in_place(*t)) d["only_in_place"] = true;
      d["differentiable"] = t->gradient.exists && (t->vjp || t->compose);
      py::list devices;
      for (int i = 0; i < kNumDevices; i++)
        if (t->kernels[i]) devices.append(std::string(name_of(DeviceType(i))));
      d["kernels"] = devices;
      out.append(d);
    }
    return out;
  }, "Every op: name, signature, doc, module, kind, index notation, in-place form, devices with a kernel.");
}

}  // namespace weir
