// Signature: one line of Python stub text, parsed at compile time.
//
//   "softmax(input: Tensor, dim: int, dtype: dtype | None = None) -> Tensor"
//
// It is the only place where names, kinds and defaults of arguments stand. Binding, schema, type stubs and error
// messages read it. `name.overload(...)` gives a Python name several signatures, tried in order of registration. Beside tensors a
// result may be one bool, `-> bool`: the op returns a tensor of one element, and Python gets its truth.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "framework/core/device.h"
#include "framework/core/dims.h"
#include "framework/core/dtype.h"
#include "framework/core/scalar.h"

namespace weir {

class Generator;

/// Text attributes ("mean", "reflect"): inline, so that op structs stay trivially copyable.
struct Str {
  char v[32] = {};
  Str() = default;
  Str(std::string_view s) {
    check<ValueError>(s.size() < sizeof v, "string argument is too long: ", s);
    s.copy(v, s.size());
  }
  std::string_view view() const { return v; }
  bool operator==(std::string_view s) const { return view() == s; }
};

/// A few real numbers ("scales"), inline like Str.
struct Floats {
  static constexpr int kMost = 16;
  double v[kMost] = {};
  int n = 0;
  Floats() = default;
  Floats(std::initializer_list<double> values) {
    for (double x : values) push(x);
  }
  void push(double x) {
    check<ValueError>(n < kMost, "at most ", kMost, " numbers can be given here");
    v[n++] = x;
  }
  double operator[](int i) const { return v[i]; }
};

/// Whole numbers of any count, which the caller keeps: ops that are parts and nothing else (`compose`) take them, since no one copies such
/// an op to run it later. What may not be longer than a tensor has axes is Dims.
struct Places {
  const int64_t* v = nullptr;
  int64_t n = 0;
  Places() = default;
  Places(const int64_t* values, int64_t count) : v(values), n(count) {}
  Places(const Dims& d) : v(d.begin()), n(d.n) {}
  const int64_t* begin() const { return v; }
  const int64_t* end() const { return v + n; }
  friend std::ostream& operator<<(std::ostream& out, const Places& p) {
    out << '[';
    for (int64_t i = 0; i < p.n; i++) out << (i ? ", " : "") << p.v[i];
    return out << ']';
  }
};

enum class MemoryFormat : uint8_t { contiguous, preserve, channels_last, channels_last_3d };

enum class Ty : uint8_t {
  tensor, opt_tensor, tensors,                     // inputs
  i64, opt_i64, f64, opt_f64, boolean, opt_boolean, number, opt_number, ints, opt_ints, places, floats, opt_floats, str, opt_str, dtype, opt_dtype,
  opt_device, opt_memory_format, generator         // attributes
};
constexpr bool is_input(Ty t) { return t <= Ty::tensors; }

template <class T> consteval Ty ty_of() {
  if constexpr (std::is_same_v<T, int64_t>) return Ty::i64;
  else if constexpr (std::is_same_v<T, std::optional<int64_t>>) return Ty::opt_i64;
  else if constexpr (std::is_same_v<T, double>) return Ty::f64;
  else if constexpr (std::is_same_v<T, std::optional<double>>) return Ty::opt_f64;
  else if constexpr (std::is_same_v<T, bool>) return Ty::boolean;
  else if constexpr (std::is_same_v<T, std::optional<bool>>) return Ty::opt_boolean;
  else if constexpr (std::is_same_v<T, Scalar>) return Ty::number;
  else if constexpr (std::is_same_v<T, std::optional<Scalar>>) return Ty::opt_number;
  else if constexpr (std::is_same_v<T, Dims>) return Ty::ints;
  else if constexpr (std::is_same_v<T, std::optional<Dims>>) return Ty::opt_ints;
  else if constexpr (std::is_same_v<T, Places>) return Ty::places;
  else if constexpr (std::is_same_v<T, Floats>) return Ty::floats;
  else if constexpr (std::is_same_v<T, std::optional<Floats>>) return Ty::opt_floats;
  else if constexpr (std::is_same_v<T, Str>) return Ty::str;
  else if constexpr (std::is_same_v<T, std::optional<Str>>) return Ty::opt_str;
  else if constexpr (std::is_same_v<T, DType>) return Ty::dtype;
  else if constexpr (std::is_same_v<T, std::optional<DType>>) return Ty::opt_dtype;
  else if constexpr (std::is_same_v<T, std::optional<Device>>) return Ty::opt_device;
  else if constexpr (std::is_same_v<T, std::optional<MemoryFormat>>) return Ty::opt_memory_format;
  else if constexpr (std::is_same_v<T, Generator*>) return Ty::generator;
  else throw "no signature type for this member";
}

constexpr int kMaxParams = 20;
constexpr int kMaxOutputs = 5;

struct Param {
  std::string_view name, type, fallback;  // fallback: the default's text, empty when the argument is required
  Ty ty{};
  bool keyword_only = false;
  bool variadic = false;    // "*size: int", "*tensors: list[Tensor]": the rest of the positional arguments, or one sequence; "*tensors: Tensor": no sequence
  bool number_ok = false;   // "Tensor | Number"
};

struct Signature {
  std::string_view text, name, overload, returns;
  std::array<Param, kMaxParams> params{};
  std::array<std::string_view, kMaxOutputs> outputs{};  // their names; empty when unnamed
  int n = 0, num_outputs = 1;

  consteval Signature(const char* s) : text(s) {
    size_t open = text.find('('), close = text.find(") -> ");
    if (open == text.npos || close == text.npos) throw "a signature reads name(params) -> result";
    name = text.substr(0, open);
    if (size_t dot = name.find('.'); dot != name.npos) {
      overload = name.substr(dot + 1);
      name = name.substr(0, dot);
    }
    parse_params(text.substr(open + 1, close - open - 1));
    parse_returns(text.substr(close + 5));
  }

 private:
  consteval void parse_params(std::string_view rest) {
    bool keyword_only = false;
    while (!rest.empty()) {
      size_t comma = rest.find(", ");
      std::string_view item = rest.substr(0, comma);
      rest = comma == rest.npos ? std::string_view{} : rest.substr(comma + 2);
      if (item == "*") {
        keyword_only = true;
        continue;
      }
      Param p;
      p.keyword_only = keyword_only;
      if (item[0] == '*') {
        p.variadic = keyword_only = true;
        item = item.substr(1);
      }
      size_t colon = item.find(": "), equals = item.find(" = ");
      if (colon == item.npos) throw "a parameter reads name: type";
      p.name = item.substr(0, colon);
      p.type = item.substr(colon + 2, equals == item.npos ? item.npos : equals - colon - 2);
      if (equals != item.npos) p.fallback = item.substr(equals + 3);
      p.ty = !p.variadic ? kind(p.type) : p.type == "int" ? Ty::ints : Ty::tensors;
      p.number_ok = p.type == "Tensor | Number";
      params[n++] = p;
    }
  }
  consteval void parse_returns(std::string_view r) {
    returns = r;
    if (r[0] != '(') return;
    num_outputs = 0;
    r = r.substr(1, r.size() - 2);
    while (!r.empty()) {
      size_t comma = r.find(", ");
      std::string_view item = r.substr(0, comma);
      r = comma == r.npos ? std::string_view{} : r.substr(comma + 2);
      outputs[num_outputs++] = item.substr(0, item.find(": "));
    }
  }
  static consteval Ty kind(std::string_view t) {
    constexpr std::pair<std::string_view, Ty> table[] = {
        {"Tensor", Ty::tensor}, {"Tensor | Number", Ty::tensor}, {"Tensor | None", Ty::opt_tensor},
        {"list[Tensor]", Ty::tensors}, {"list[Tensor | None]", Ty::tensors}, {"int", Ty::i64}, {"int | None", Ty::opt_i64}, {"float", Ty::f64},
        {"int | Tensor", Ty::i64}, {"int | Tensor | None", Ty::opt_i64},  // a tensor of one element too, whatever its axes
        {"float | None", Ty::opt_f64}, {"bool", Ty::boolean}, {"bool | None", Ty::opt_boolean},
        {"Number", Ty::number}, {"Number | None", Ty::opt_number}, {"int | list[int]", Ty::ints},
        {"list[int]", Ty::ints}, {"int | list[int] | None", Ty::opt_ints}, {"list[int] | None", Ty::opt_ints},
        {"list[int] | int | None", Ty::opt_ints},  // a number is an int there, and so no tensor with axes
        {"Sequence[int]", Ty::places}, {"list[float]", Ty::floats}, {"list[float] | None", Ty::opt_floats}, {"str", Ty::str}, {"str | None", Ty::opt_str}, {"dtype", Ty::dtype}, {"dtype | None", Ty::opt_dtype}, {"device | None", Ty::opt_device},
        {"memory_format | None", Ty::opt_memory_format}, {"Generator | None", Ty::generator}};
    for (auto& [text, ty] : table) if (text == t) return ty;
    throw "unknown parameter type";
  }
};

}  // namespace weir
