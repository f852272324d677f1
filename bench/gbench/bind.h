// From a case of `weir-bench export` to an op call: JSON arguments become the members of the op's struct.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "framework/op/call.h"

namespace weir::gbench {

using Json = nlohmann::json;

/// Why a case is not a plain forward call of an op, or does not fit one. what() is one sentence.
struct Inexpressible : std::runtime_error { using std::runtime_error::runtime_error; };

/// A call ready to run: `call(*type, op.data(), inputs, out)`.
struct Call {
  const OpType* type;
  std::vector<std::byte> op;
  Tensors inputs;
  bool inplace = false;
};

/// Matches `case["args"]` and `case["kwargs"]` with the overloads of the op, in order of registration. `tensors` are
/// the case's inputs. Throws Inexpressible when there is no such op or no overload fits.
Call bind_case(const Json& c, const Tensors& tensors);

}  // namespace weir::gbench
