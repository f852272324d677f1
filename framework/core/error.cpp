#include "framework/core/error.h"

#include <sstream>

namespace weir {

void print_text(std::ostream& out, const void* value) { out << static_cast<const char*>(value); }

std::string joined(std::initializer_list<Part> parts) {
  std::ostringstream out;
  for (const Part& part : parts) part.print(out, part.value);
  return std::move(out).str();
}

}  // namespace weir
