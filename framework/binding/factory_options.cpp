#include "framework/binding/factory_options.h"

#include <pybind11/pybind11.h>

#include "framework/binding/construct.h"
#include "framework/binding/convert.h"

namespace py = pybind11;

namespace weir {

std::string function_name(const OpType& t) { return std::string(t.signature->name) + "()"; }

bool parse_factory_option(const OpType& type, PyObject* key, PyObject* value, bool& requires_grad, Reason& why) {
  std::string_view name = text_of(key);
  if (name == "requires_grad" || name == "pin_memory") {
    if (value != Py_None && !PyBool_Check(value))
      return why(function_name(type), ": argument '", name, "' must be bool, not ", Py_TYPE(value)->tp_name);
    if (name == "requires_grad") requires_grad = value == Py_True;
    else check(value != Py_True, kNoPinnedMemory);
    return true;
  }
  if (name != "layout") return why(function_name(type), " got an unexpected keyword argument '", name, "'");
  if (value == Py_None) return true;
  auto text = py::reinterpret_steal<py::object>(must(PyObject_Str(value)));
  std::string_view layout = text_of(text.ptr());
  check<NotImplemented>(layout == "torch.strided" || layout == "strided", "layout ", layout, " is not supported: weir tensors are strided");
  return true;
}

void check_dtype_of_out(const OpType& type, const std::optional<DType>& told, const Tensor& out) {
  check(!told || *told == out.dtype(), type.signature->name, ": dtype ", name_of(told.value_or(DType())), " does not match dtype of out parameter (",
        name_of(out.dtype()), ")");
}

// PyTorch compares the dtype of a factory with that of out= before it reads the numbers of a size.
void check_told_dtype(const OpType& type, PyObject* const* slot, const Tensor& out) {
  for (int i = 0; out && i < type.signature->n; i++) {
    std::optional<DType> told;
    if (type.signature->params[i].ty != Ty::opt_dtype || !slot[i] || !store_argument(slot[i], Ty::opt_dtype, reinterpret_cast<std::byte*>(&told))) continue;
    check_dtype_of_out(type, told, out);
  }
}

}  // namespace weir
