// What Python may give to every factory beside its own parameters.
#pragma once
#include <string>

#include "framework/binding/reason.h"
#include "framework/binding/tensor_object.h"
#include "framework/op/op.h"

namespace weir {

std::string function_name(const OpType& type);
/// Takes layout=, pin_memory= or requires_grad=. False, with `why`, for another keyword or a value of another type.
bool parse_factory_option(const OpType& type, PyObject* key, PyObject* value, bool& requires_grad, Reason& why);
/// Raises where the dtype that a factory was told is not that of out=.
void check_dtype_of_out(const OpType& type, const std::optional<DType>& told, const Tensor& out);
/// The same of the dtype among the arguments in `slot`, by parameter; out= may be none.
void check_told_dtype(const OpType& type, PyObject* const* slot, const Tensor& out);

}  // namespace weir
