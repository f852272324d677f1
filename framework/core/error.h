// Errors of the framework, one C++ type per Python exception type that PyTorch raises.
//
// A message begins with the op's name and says what was expected and what came:
//   softmax: dim 3 is out of range for a 2-d tensor
#pragma once
#include <initializer_list>
#include <ostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

namespace weir {

struct Error : std::runtime_error { using std::runtime_error::runtime_error; };        // RuntimeError
struct TypeError : Error { using Error::Error; };
struct ValueError : Error { using Error::Error; };
struct IndexError : Error { using Error::Error; };
struct NotImplemented : Error { using Error::Error; };
struct AssertionError : Error { using Error::Error; };
struct OutOfMemory : Error { using Error::Error; };
/// What a program does that cannot be traced; DynamicShape: a result's shape depends on values.
struct Untraceable : Error { using Error::Error; };       // nn.graph.Untraceable, a RuntimeError
struct DynamicShape : Untraceable { using Untraceable::Untraceable; };  // nn.graph.DynamicShape

/// A part of a message: the value, and what prints values of its type.
struct Part {
  const void* value;
  void (*print)(std::ostream&, const void*);
};
template <class T> void print_part(std::ostream& out, const void* value) { out << *static_cast<const T*>(value); }
void print_text(std::ostream& out, const void* value);
template <class T> Part part(const T& value) {
  if constexpr (std::is_array_v<T>) return {value, print_text};  // literals, whose lengths would make a function each
  else return {&value, print_part<T>};
}
std::string joined(std::initializer_list<Part> parts);

/// Joins anything printable into one string.
template <class... A> std::string str(const A&... parts) { return joined({part(parts)...}); }

/// The name at the beginning of a signature's text, looked for only where a message is written.
struct NameIn {
  const char* text;
  friend std::ostream& operator<<(std::ostream& out, NameIn name) {
    std::string_view s(name.text);
    return out << s.substr(0, s.find_first_of(".("));
  }
};

/// Throws `E` with the joined message. Kept out of callers: a quarter of the library's code were messages written out where they may be needed.
template <class E> [[noreturn, gnu::noinline, gnu::cold]] void raise(std::initializer_list<Part> message) { throw E(joined(message)); }

/// Throws `E` with the joined message unless `ok`. For user errors; our own errors are asserts.
template <class E = Error, class... A> void check(bool ok, const A&... message) {
  if (!ok) [[unlikely]] raise<E>({part(message)...});
}

}  // namespace weir
