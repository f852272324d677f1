#include "framework/ops/check.h"

namespace weir {

static const CheckOps::Registration ops;

}  // namespace weir
