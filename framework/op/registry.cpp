#include <charconv>
#include <cstdlib>
#include <string>
#include <unordered_map>

#include "framework/op/op.h"

namespace weir {
namespace {

std::unordered_map<std::string, OpType*>& names() {
  static std::unordered_map<std::string, OpType*> m;
  return m;
}

DType dtype_named(std::string_view s) {
  for (int i = 0; i < kNumDTypes; i++)
    if (name_of(DType(i)) == s) return DType(i);
  std::abort();  // a default in one of our own signatures: caught by the first run
}

Scalar number(std::string_view s) {
  if (s == "True" || s == "False") return Scalar(s == "True");
  if (s.find_first_of(".en") != s.npos) return Scalar(std::strtod(std::string(s).c_str(), nullptr));
  return Scalar(int64_t(std::strtoll(std::string(s).c_str(), nullptr, 10)));
}

Dims ints(std::string_view s) {  // "0" or "(0, 1)" or "[]"
  Dims d;
  for (size_t i = 0; i < s.size();) {
    if (s[i] != '-' && !isdigit(s[i])) { i++; continue; }
    int64_t x = 0;
    auto end = std::from_chars(s.data() + i, s.data() + s.size(), x).ptr;
    d.push(x);
    i = end - s.data();
  }
  return d;
}

template <class T> void put(std::byte* at, T value) { *reinterpret_cast<T*>(at) = value; }
template <class T> void put_optional(std::byte* at, bool none, T value) {
  *reinterpret_cast<std::optional<T>*>(at) = none ? std::optional<T>() : std::optional<T>(value);
}

void put_default(std::byte* at, Ty ty, std::string_view text) {
  bool none = text == "None";
  switch (ty) {
    case Ty::i64: return put(at, number(text).to_int());
    case Ty::opt_i64: return put_optional(at, none, none ? 0 : number(text).to_int());
    case Ty::f64: return put(at, number(text).to_double());
    case Ty::opt_f64: return put_optional(at, none, none ? 0.0 : number(text).to_double());
    case Ty::boolean: return put(at, text == "True");
    case Ty::opt_boolean: return put_optional(at, none, text == "True");
    case Ty::number: return put(at, number(text));
    case Ty::opt_number: return put_optional(at, none, none ? Scalar() : number(text));
    case Ty::ints: return put(at, ints(text));
    case Ty::opt_ints: return put_optional(at, none, ints(text));
    case Ty::floats: return put(at, Floats());
    case Ty::opt_floats: return put_optional(at, true, Floats());
    case Ty::str: return put(at, Str(text.substr(1, text.size() - 2)));
    case Ty::opt_str: return put_optional(at, none, none ? Str() : Str(text.substr(1, text.size() - 2)));
    case Ty::dtype: return put(at, dtype_named(text));
    case Ty::opt_dtype: return put_optional(at, none, none ? DType() : dtype_named(text));
    case Ty::opt_device: return put_optional(at, none, Device{});
    case Ty::opt_memory_format: return put_optional(at, none, MemoryFormat::contiguous);
    case Ty::generator: return put<Generator*>(at, nullptr);
    default: break;
  }
}

}  // namespace

std::vector<OpType*>& registry() {
  static std::vector<OpType*> r;
  return r;
}

OpType* find_op(std::string_view name) {
  auto it = names().find(std::string(name));
  return it == names().end() ? nullptr : it->second;
}

bool is_random(const OpType& type) {
  if (type.signature->name == "dropout_with_mask") return true;
  for (int i = 0; i < type.signature->n; i++)
    if (type.signature->params[i].ty == Ty::generator) return true;
  return false;
}

void register_op(OpType* type) {
  const Signature& s = *type->signature;
  type->defaults.resize(type->size);
  type->construct(type->defaults.data());
  for (int i = 0; i < s.n; i++)
    if (!is_input(s.params[i].ty) && !s.params[i].fallback.empty())
      put_default(type->defaults.data() + type->fields[i].offset, type->fields[i].ty, s.params[i].fallback);
  registry().push_back(type);
  std::string full(s.name);
  if (!s.overload.empty()) full += "." + std::string(s.overload);
  names().emplace(full, type);
}

}  // namespace weir
