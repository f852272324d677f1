// Errors of the framework, one C++ type per Python exception type that PyTorch raises.
//
// A message begins with the op's name and says what was expected and what came:
//   softmax: dim 3 is out of range for a 2-d tensor
#pragma once
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

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

/// Joins anything printable into one string.
template <class... A>
std::string str(const A&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return std::move(out).str();
}

/// The name at the beginning of a signature's text, looked for only where a message is written.
struct NameIn {
  const char* text;
  friend std::ostream& operator<<(std::ostream& out, NameIn name) {
    std::string_view s(name.text);
    return out << s.substr(0, s.find_first_of(".("));
  }
};

/// Throws `E` with the joined message unless `ok`. For user errors; our own errors are asserts.
template <class E = Error, class... A>
void check(bool ok, const A&... message) {
  if (!ok) [[unlikely]] throw E(str(message...));
}

}  // namespace weir
