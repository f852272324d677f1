// Errors of the framework, one C++ type per Python exception type that PyTorch raises.
//
// A message begins with the op's name and says what was expected and what came:
//   softmax: dim 3 is out of range for a 2-d tensor
#pragma once
#include <sstream>
#include <stdexcept>
#include <string>

namespace weir {

struct Error : std::runtime_error { using std::runtime_error::runtime_error; };        // RuntimeError
struct TypeError : Error { using Error::Error; };
struct ValueError : Error { using Error::Error; };
struct IndexError : Error { using Error::Error; };
struct NotImplemented : Error { using Error::Error; };
struct OutOfMemory : Error { using Error::Error; };

/// Joins anything printable into one string.
template <class... A>
std::string str(const A&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return std::move(out).str();
}

/// Throws `E` with the joined message unless `ok`. For user errors; our own errors are asserts.
template <class E = Error, class... A>
void check(bool ok, const A&... message) {
  if (!ok) [[unlikely]] throw E(str(message...));
}

}  // namespace weir
