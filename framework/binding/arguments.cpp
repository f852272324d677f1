// Arguments of functions written in Python, read as the parser of op_function.cpp reads those of ops.
#include <algorithm>

#include "framework/autograd/variable.h"
#include "framework/binding/convert.h"
#include "framework/binding/operators.h"

namespace py = pybind11;

namespace weir {
namespace {

struct Kind {
  std::string_view type;
  Ty ty;
};
constexpr Kind kKinds[] = {{"int", Ty::i64}, {"int | None", Ty::opt_i64}, {"float", Ty::f64}, {"float | None", Ty::opt_f64}, {"bool", Ty::boolean},
                           {"bool | None", Ty::opt_boolean}, {"Number", Ty::number}, {"Number | None", Ty::opt_number}, {"int | list[int]", Ty::ints},
                           {"list[int]", Ty::places}, {"str", Ty::str}};

bool is_list_of_tensors(PyObject* o) {
  if (!PyTuple_Check(o) && !PyList_Check(o)) return false;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(o); i++)
    if (!is_tensor(PySequence_Fast_GET_ITEM(o, i))) return false;
  return true;
}

template <class Ints> py::object tuple_of(const Ints& ints) {
  py::tuple r(ints.n);
  int64_t at = 0;
  for (int64_t i : ints) r[at++] = py::int_(i);
  return r;
}

// What the function computes with: the number of whatever stood for it, and a tuple of the numbers of a list.
py::object plain(Ty ty, const std::byte* at, const py::object& given) {
  if (given.is_none()) return given;
  switch (ty) {
    case Ty::i64: return py::int_(*reinterpret_cast<const int64_t*>(at));
    case Ty::opt_i64: return py::int_(**reinterpret_cast<const std::optional<int64_t>*>(at));
    case Ty::f64: return py::float_(*reinterpret_cast<const double*>(at));
    case Ty::opt_f64: return py::float_(**reinterpret_cast<const std::optional<double>*>(at));
    case Ty::number: return py::reinterpret_steal<py::object>(must(scalar_object(*reinterpret_cast<const Scalar*>(at))));
    case Ty::opt_number: return py::reinterpret_steal<py::object>(must(scalar_object(**reinterpret_cast<const std::optional<Scalar>*>(at))));
    case Ty::ints: return tuple_of(*reinterpret_cast<const Dims*>(at));
    case Ty::places: return tuple_of(*reinterpret_cast<const Places*>(at));
    default: return given;
  }
}

py::object argument(const std::string& function, const std::string& name, int position, const std::string& type, const py::object& given) {
  PyObject* o = given.ptr();
  auto read = [&]() -> py::object {
    if (type == "Tensor") return is_tensor(o) ? given : py::object();
    if (type == "Tensor | None") return is_tensor(o) || o == Py_None ? given : py::object();
    if (type == "list[Tensor]") return is_list_of_tensors(o) ? given : py::object();
    const Kind* kind = std::find_if(std::begin(kKinds), std::end(kKinds), [&](const Kind& k) { return k.type == type; });
    if (kind == std::end(kKinds)) throw std::logic_error("no such type of arguments: " + type);
    if (kind->ty == Ty::number && PyLong_Check(o)) return number_operand(o) ? given : py::object();  // to 2^64, beyond what Scalar holds
    if (is_tensor(o) && (requires_grad(unwrap(o)) || has_axes_beside(o, kind->ty, function, name, type))) return {};  // as in op_function.cpp
    alignas(16) std::byte at[sizeof(Dims) + 64] = {};
    return store_argument(o, kind->ty, at) ? plain(kind->ty, at, given) : py::object();
  };
  py::object r = read();
  check<TypeError>(bool(r), function, "(): argument '", name, "' (position ", position, ") must be ", type, ", not ", Py_TYPE(o)->tp_name);
  return r;
}

}  // namespace

py::object taken_in_python(PyObject* o, Ty ty) {
  const auto given = py::reinterpret_borrow<py::object>(o);
  if (ty == Ty::boolean || (ty == Ty::opt_boolean && o != Py_None)) return py::bool_(truth_of(o));
  if (PyBool_Check(o)) return py::int_(o == Py_True);
  if ((ty == Ty::f64 || ty == Ty::opt_f64) && is_tensor(o)) {
    if (requires_grad(unwrap(o))) warn_of_lost_gradient(unwrap(o));
    const auto number = py::reinterpret_steal<py::object>(wrap(detach(unwrap(o))));
    return ty == Ty::f64 ? number : py::object(py::float_(number));  // float() takes any tensor of one element
  }
  if (ty != Ty::opt_ints) return given;
  if (PyTuple_Check(o) && PyTuple_GET_SIZE(o) == 0) return py::none();
  if (is_tensor(o) ? unwrap(o).ndim() == 0 : !PyObject_HasAttrString(o, "__iter__")) return given;
  py::list numbers;
  for (py::handle each : given)
    numbers.append(PyBool_Check(each.ptr()) ? py::object(py::int_(each.ptr() == Py_True)) : py::reinterpret_borrow<py::object>(each));
  return numbers;
}

void init_arguments(py::module_& m) {
  m.def("_argument", &argument, "The argument as a parameter of that type takes it. TypeError for what is none, ValueError for a number too large.");
}

}  // namespace weir
