// Warnings: of what works, but should not be written so.
#pragma once
#include <string>

#include "framework/core/dtype.h"

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

/// Says that `count` numbers of `from` lose their imaginary parts as numbers of `to`, where they do. Truth keeps whether they are zero.
void warn_of_lost_parts(DType from, DType to, int64_t count);
/// Shows a text the first time that it is given, or every time where WarnOnce::always.
void warn_once(const std::string& text);
/// Says that `op` is deprecated in favor of `instead`, once for every op.
void warn_deprecated(const std::string& op, const std::string& instead);

}  // namespace weir
