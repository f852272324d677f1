// Warnings: of what works, but should not be written so.
#pragma once
#include <string>

namespace weir {

/// Shows `text`: as Python's UserWarning where Python runs, which throws where warnings are errors; else on stderr.
void warn(const std::string& text);
/// What shows warnings from now on.
void set_warner(void (*show)(const std::string& text));

/// A warning that is shown at the first call only, or at every one where `always`.
class WarnOnce {
 public:
  void operator()(const std::string& text) {
    if (!said_ || always) said_ = true, warn(text);
  }
  static inline bool always = false;

 private:
  bool said_ = false;
};

}  // namespace weir
