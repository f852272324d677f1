#include "framework/core/warn.h"

#include <cstdio>
#include <mutex>
#include <set>

namespace weir {
namespace {

void (*warner)(const std::string&) = [](const std::string& text) { std::fprintf(stderr, "weir: %s\n", text.c_str()); };

}  // namespace

void warn(const std::string& text) { warner(text); }

void warn_of_lost_parts(DType from, DType to, int64_t count) {
  static WarnOnce said;
  if (is_complex(from) && !is_complex(to) && to != DType::boolean && count > 0) said("Casting complex values to real discards the imaginary part");
}

void warn_once(const std::string& text) {
  static std::mutex lock;
  static std::set<std::string> said;
  bool first;
  {
    std::lock_guard guard(lock);
    first = said.insert(text).second;
  }
  if (first || WarnOnce::always) warn(text);
}

void warn_deprecated(const std::string& op, const std::string& instead) {
  warn_once("torch." + op + " is deprecated in favor of torch." + instead + " and will be removed in a future release.");
}

void set_warner(void (*show)(const std::string& text)) { warner = show; }

}  // namespace weir
