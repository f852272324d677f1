#include "framework/binding/old_order.h"

#include <string>

#include "framework/autograd/variable.h"
#include "framework/binding/tensor_object.h"
#include "framework/core/warn.h"

namespace weir {

// A number, or one in a tensor without axes beside the one factor of an op of two operands.
static bool stands_for_factor(PyObject* o, bool one) { return !is_tensor(o) || (one && unwrap(o).ndim() == 0 && !requires_grad(unwrap(o))); }

bool in_old_order(const OpType& type, std::string_view name, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames, OldOrder* to) {
  if (type.out.takes == Out::none) return false;  // rsub, which has no older form
  const Signature& s = *type.signature;
  std::vector<std::string> factors;
  int tensors = 0;
  for (int i = 0; i < s.n; i++) {
    if (is_input(s.params[i].ty)) tensors++;
    else if (s.params[i].keyword_only) factors.emplace_back(s.params[i].name);
    else return false;
  }
  const bool one = factors.size() == 1 && (factors[0] == "alpha" || factors[0] == "value");
  const bool two = factors.size() == 2 && factors[0] == "beta" && factors[1] == "alpha";
  const Py_ssize_t numbers = nargs - tensors;
  if ((!one && !two) || numbers < 1 || numbers > Py_ssize_t(factors.size())) return false;
  // The first factor follows the tensor that a method is called on; in a function of two factors it comes before all.
  const bool function = two && !is_tensor(args[0]);
  const Py_ssize_t places[2] = {function ? 0 : 1, 2};
  std::vector<PyObject*> given;
  for (Py_ssize_t i = 0, k = 0; i < nargs; i++) {
    const bool factor = k < numbers && i == places[k];
    if (!(factor ? stands_for_factor(args[i], one) : is_tensor(args[i]) || (i > 0 && s.params[i - k].number_ok && is_number(args[i])))) return false;
    (factor ? given : to->args).push_back(args[i]);
    k += factor;
  }
  to->nargs = tensors;
  const Py_ssize_t named = kwnames ? PyTuple_GET_SIZE(kwnames) : 0;
  py::tuple names(named + numbers);
  for (Py_ssize_t k = 0; k < named; k++) {
    names[k] = py::reinterpret_borrow<py::object>(PyTuple_GET_ITEM(kwnames, k));
    to->args.push_back(args[nargs + k]);
  }
  for (Py_ssize_t k = 0; k < numbers; k++) {
    names[named + k] = py::str(factors[k]);
    to->args.push_back(given[k]);
  }
  to->kwnames = names;
  warn("This overload of " + std::string(name) + " is deprecated: give " + factors[0] + (numbers > 1 ? " and " + factors[1] : "") + " by name");
  return true;
}

}  // namespace weir
