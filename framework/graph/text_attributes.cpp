#include "framework/graph/text_attributes.h"

#include <cmath>
#include <cstring>

#include "framework/graph/members.h"

namespace weir::graph {
namespace {

constexpr const char* kFormats[] = {"contiguous", "preserve", "channels_last", "channels_last_3d"};

[[noreturn]] void wrong(const char* expected) { throw ValueError(str("a graph's text: expected ", expected)); }

// The shortest digits that read back as the same number; other numbers by their bits.
std::string written(double x) {
  char text[40];
  if (!std::isfinite(x)) {
    uint64_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    std::snprintf(text, sizeof text, "0x%016lX : f64", static_cast<unsigned long>(bits));
    return text;
  }
  for (int digits = 1; digits < 18; digits++) {
    std::snprintf(text, sizeof text, "%.*e", digits, x);
    if (std::strtod(text, nullptr) == x) break;
  }
  return std::string(text) + " : f64";
}
std::string written(int64_t x) { return std::to_string(x) + " : i64"; }
std::string written(bool x) { return x ? "true" : "false"; }
std::string written(const Str& s) { return quoted(std::string(s.view())); }
std::string written(DType t) { return quoted(std::string(name_of(t))); }
std::string written(const Device& d) { return quoted(std::string(name_of(d.type))); }
std::string written(MemoryFormat f) { return quoted(kFormats[int(f)]); }
std::string written(const Scalar& s) {
  if (s.kind == Scalar::Kind::boolean) return written(s.i != 0);
  if (s.kind == Scalar::Kind::integer) return written(s.i);
  if (s.is_real()) return written(s.d);
  return "[" + written(s.to_complex().real()) + ", " + written(s.to_complex().imag()) + "]";
}
std::string written(const Dims& d) {
  std::string r = "[";
  for (int i = 0; i < d.n; i++) r += (i ? ", " : "") + written(d[i]);
  return r + "]";
}
std::string written(const Floats& f) {
  std::string r = "[";
  for (int i = 0; i < f.n; i++) r += (i ? ", " : "") + written(f[i]);
  return r + "]";
}

void read(const Attribute& a, int64_t& to) { to = a.integer(); }
void read(const Attribute& a, double& to) { to = a.real(); }
void read(const Attribute& a, bool& to) { to = a.truth(); }
void read(const Attribute& a, Str& to) { to = Str(a.text()); }
void read(const Attribute& a, DType& to) {
  for (int i = 0; i < kNumDTypes; i++)
    if (name_of(DType(i)) == a.text()) return void(to = DType(i));
  wrong("a dtype");
}
void read(const Attribute& a, Device& to) {
  if (a.text() != "cpu") wrong("the device cpu");
  to = Device{};
}
void read(const Attribute& a, MemoryFormat& to) {
  for (int i = 0; i < 4; i++)
    if (a.text() == kFormats[i]) return void(to = MemoryFormat(i));
  wrong("a memory format");
}
void read(const Attribute& a, Scalar& to) {
  switch (a.kind) {
    case Attribute::Kind::truth: to = Scalar(a.truth()); return;
    case Attribute::Kind::integer: to = Scalar(a.integer()); return;
    case Attribute::Kind::real: to = Scalar(a.real()); return;
    default:
      if (a.list().size() != 2) wrong("a complex number");
      to = Scalar(std::complex<double>(a.list()[0].real(), a.list()[1].real()));
  }
}
void read(const Attribute& a, Dims& to) {
  to = Dims();
  for (const Attribute& x : a.list()) to.push(x.integer());
}
void read(const Attribute& a, Floats& to) {
  to = Floats();
  for (const Attribute& x : a.list()) to.push(x.real());
}
template <class T> void read(const Attribute& a, std::optional<T>& to) {
  T value{};
  read(a, value);
  to = value;
}
template <class T> std::string written(const std::optional<T>& x) { return x ? written(*x) : ""; }

template <class T> void clear(T&) { wrong("an attribute that is not left out"); }
template <class T> void clear(std::optional<T>& x) { x.reset(); }

}  // namespace

int64_t Attribute::integer() const { return kind == Kind::integer ? i : (wrong("an integer"), 0); }
double Attribute::real() const { return kind == Kind::real ? d : (wrong("a number with a fraction"), 0); }
bool Attribute::truth() const { return kind == Kind::truth ? i != 0 : (wrong("true or false"), false); }
const std::string& Attribute::text() const { return kind == Kind::text ? s : (wrong("a text"), s); }
const std::vector<Attribute>& Attribute::list() const { return kind == Kind::list ? items : (wrong("a list"), items); }
const Attribute* Attribute::find(const std::string& name) const {
  if (kind != Kind::dictionary) wrong("a dictionary");
  for (size_t k = 0; k < names.size(); k++)
    if (names[k] == name) return &items[k];
  return nullptr;
}
const Attribute& Attribute::at(const std::string& name) const {
  const Attribute* a = find(name);
  check<ValueError>(a, "a graph's text: expected an attribute ", name);
  return *a;
}

std::string quoted(const std::string& s) {
  std::string r = "\"";
  for (char c : s) {
    char text[8];
    if (c == '"' || c == '\\' || static_cast<unsigned char>(c) < 32) std::snprintf(text, sizeof text, "\\%02X", static_cast<unsigned char>(c)), r += text;
    else r += c;
  }
  return r + "\"";
}

std::string written_attributes(const OpType& type, const std::byte* op) {
  std::string r;
  const Signature& s = *type.signature;
  for (int i = 0; i < s.n; i++) {
    if (is_input(s.params[i].ty)) continue;
    visit_member(type.fields[i].ty, const_cast<std::byte*>(op) + type.fields[i].offset, [&](auto& member) {
      std::string value = written(member);
      if (!value.empty()) r += (r.empty() ? "" : ", ") + std::string(s.params[i].name) + " = " + value;
    });
  }
  return r;
}

void read_attributes(const OpType& type, const Attribute& from, std::byte* op) {
  const Signature& s = *type.signature;
  size_t known = 0;
  for (int i = 0; i < s.n; i++) {
    if (is_input(s.params[i].ty)) continue;
    const Attribute* a = from.find(std::string(s.params[i].name));
    known += a != nullptr;
    visit_member(type.fields[i].ty, op + type.fields[i].offset, [&](auto& member) {
      if (a) read(*a, member);
      else clear(member);
    });
  }
  check<ValueError>(known == from.names.size(), "a graph's text: ", std::string(s.name), " has no attribute of one of these names");
}

}  // namespace weir::graph
