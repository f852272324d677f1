#include "framework/ops/recurrence.h"

namespace weir {

static const RecurrenceOps::Registration ops;

}  // namespace weir
