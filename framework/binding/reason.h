// Why a call does not fit a signature.
#pragma once
#include <string>

#include "framework/core/error.h"

namespace weir {

/// Text that is put together only where it is wanted: an overload that does not fit is no error while another one may.
struct Reason {
  bool wanted = false;
  std::string text;
  /// False, for `return why(...)`.
  template <class... Parts> bool operator()(const Parts&... parts) {
    if (wanted) text = str(parts...);
    return false;
  }
};

}  // namespace weir
