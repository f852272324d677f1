#include "bench/gbench/bind.h"

#include <algorithm>

namespace weir::gbench {
namespace {

template <class... A> [[noreturn]] void refuse(const A&... why) { throw Inexpressible(str(why...)); }
template <class T> void put(std::byte* at, T value) { *reinterpret_cast<T*>(at) = value; }
template <class T> void put_some(std::byte* at, T value) { put(at, std::optional<T>(value)); }

Scalar number(const Json& j) {
  if (j.is_boolean()) return Scalar(j.get<bool>());
  if (j.is_number_integer()) return Scalar(j.get<int64_t>());
  if (j.is_number_float()) return Scalar(j.get<double>());
  refuse("expected a number, got ", j.dump());
}

int64_t integer(const Json& j) {
  if (!j.is_number_integer()) refuse("expected an int, got ", j.dump());
  return j.get<int64_t>();
}

double real(const Json& j) {
  if (!j.is_number()) refuse("expected a float, got ", j.dump());
  return j.get<double>();
}

bool boolean(const Json& j) {
  if (!j.is_boolean()) refuse("expected a bool, got ", j.dump());
  return j.get<bool>();
}

Dims ints(const Json& j) {
  if (j.is_number_integer()) return {j.get<int64_t>()};
  if (!j.is_array()) refuse("expected ints, got ", j.dump());
  Dims d;
  for (const Json& x : j) d.push(integer(x));
  return d;
}

Str text(const Json& j) {
  if (!j.is_string()) refuse("expected a str, got ", j.dump());
  return Str(j.get<std::string>());
}

DType dtype(const Json& j) {
  if (j.is_object() && j.contains("dtype"))
    for (int i = 0; i < kNumDTypes; i++)
      if (name_of(DType(i)) == j["dtype"].get<std::string>()) return DType(i);
  refuse("expected a dtype, got ", j.dump());
}

// Writes one attribute. A null leaves the default, which is None for every optional one.
void put_attribute(std::byte* at, Ty ty, const Json& j) {
  if (j.is_null()) return;
  switch (ty) {
    case Ty::i64: return put(at, integer(j));
    case Ty::opt_i64: return put_some(at, integer(j));
    case Ty::f64: return put(at, real(j));
    case Ty::opt_f64: return put_some(at, real(j));
    case Ty::boolean: return put(at, boolean(j));
    case Ty::opt_boolean: return put_some(at, boolean(j));
    case Ty::number: return put(at, number(j));
    case Ty::opt_number: return put_some(at, number(j));
    case Ty::ints: return put(at, ints(j));
    case Ty::opt_ints: return put_some(at, ints(j));
    case Ty::str: return put(at, text(j));
    case Ty::dtype: return put(at, dtype(j));
    case Ty::opt_dtype: return put_some(at, dtype(j));
    default: refuse("no JSON form for this attribute");
  }
}

const Tensor& tensor(const Json& j, const Tensors& tensors) {
  if (!j.is_object() || !j.contains("input")) refuse("expected a tensor, got ", j.dump());
  return tensors.at(j["input"].get<size_t>());
}

void add_inputs(Tensors& inputs, const Param& p, const Json& j, const Tensors& tensors) {
  if (j.is_null() && p.ty == Ty::opt_tensor) {
    inputs.emplace_back();
  } else if (p.ty == Ty::tensors) {
    if (!j.is_array()) refuse(p.name, ": expected a list of tensors, got ", j.dump());
    for (const Json& x : j) inputs.push_back(tensor(x, tensors));
  } else if (p.number_ok && j.is_number()) {
    inputs.push_back(wrapped_number(number(j)));
  } else {
    inputs.push_back(tensor(j, tensors));
  }
}

// Arguments by parameter: null where none is given. A variadic parameter takes the rest of the positional ones.
std::vector<Json> arguments(const Signature& s, const Json& args, const Json& kwargs) {
  std::vector<Json> slots(s.n);
  for (size_t k = 0; k < args.size(); k++) {
    if (int(k) >= s.n || (s.params[k].keyword_only && !s.params[k].variadic)) refuse("too many arguments");
    if (!s.params[k].variadic) {
      slots[k] = args[k];
      continue;
    }
    bool one_list = k + 1 == args.size() && args[k].is_array();
    slots[k] = one_list ? args[k] : Json(std::vector<Json>(args.begin() + k, args.end()));
    break;
  }
  for (auto& [key, value] : kwargs.items()) {
    auto found = std::find_if(s.params.begin(), s.params.begin() + s.n, [&](const Param& p) { return p.name == key; });
    if (found == s.params.begin() + s.n) refuse("no parameter ", key);
    slots[found - s.params.begin()] = value;
  }
  return slots;
}

Call bind_to(const OpType& type, const Json& c, const Tensors& tensors) {
  const Signature& s = *type.signature;
  std::vector<Json> slots = arguments(s, c["args"], c["kwargs"]);
  Call call{&type, type.defaults, {}};
  for (int i = 0; i < s.n; i++) {
    const Param& p = s.params[i];
    if (slots[i].is_null() && p.fallback.empty() && p.ty != Ty::opt_tensor) refuse("no argument for ", p.name);
    if (is_input(p.ty)) add_inputs(call.inputs, p, slots[i], tensors);
    else put_attribute(call.op.data() + type.fields[i].offset, p.ty, slots[i]);
  }
  return call;
}

// "Tensor.add_" and "nn.functional.relu" are add, in place, and relu; "linalg.inv" is linalg_inv.
std::string op_name(const Json& c) {
  const std::string path = c["op"], module = "linalg.";
  if (path.starts_with(module)) return "linalg_" + path.substr(module.size());
  return path.substr(path.rfind('.') + 1);
}

}  // namespace

Call bind_case(const Json& c, const Tensors& tensors) {
  std::string name = op_name(c), why;
  bool inplace = name.ends_with("_") && !name.ends_with("__");
  if (inplace) name.pop_back();
  for (const OpType* type : registry()) {
    if (type->signature->name != name) continue;
    if (inplace && !type->inplace.offered) refuse(name, " has no in-place form");
    try {
      Call call = bind_to(*type, c, tensors);
      call.inplace = inplace;
      return call;
    } catch (const Inexpressible& e) {
      why += str("; ", type->signature->text, ": ", e.what());
    }
  }
  if (why.empty()) refuse("no op of this name");
  refuse("no overload fits", why);
}

}  // namespace weir::gbench
