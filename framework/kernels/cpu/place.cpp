#include "framework/ops/place.h"

#include "framework/kernels/cpu/indexing.h"

namespace weir {
namespace WEIR_ISA {
namespace {

void check_index(const CheckIndex& op, Inputs in, Outputs out) {
  const Tensor index = row_major(in[0]);
  for (int64_t i = 0, n = index.numel(); i < n; i++) {
    const int64_t at = index_at(index, i);
    check<IndexError>(at >= (op.wrap ? -op.size : 0) && at < op.size, op.op.view(), "(): index ", at, " is out of range for a tensor with ", op.size, " elements");
    const int64_t wrapped = at < 0 ? at + op.size : at;
    if (out[0].dtype() == DType::int64) out[0].data<int64_t>()[i] = wrapped;
    else out[0].data<int32_t>()[i] = int32_t(wrapped);
  }
}

void mask_positions(const MaskPositions& op, Inputs in, Outputs out) {
  const Tensor mask = row_major(in[0]);
  const bool* holds = mask.data<bool>();
  int64_t *to = out[0].data<int64_t>(), before = 0;
  const int64_t last = std::max<int64_t>(op.available - 1, 0);  // what follows the last one is not read
  for (int64_t i = 0, n = mask.numel(); i < n; i++) {
    to[i] = std::min(before, last);
    before += holds[i];
  }
  check(before <= op.available, "masked_scatter: expected the number of elements in source to be at least the number of ones in mask, got ",
        op.available, " and ", before);
}

}  // namespace

static const bool registered = [] {
  set_kernel<CheckIndex, check_index>(DeviceType::cpu);
  set_kernel<MaskPositions, mask_positions>(DeviceType::cpu);
  return true;
}();

}  // namespace WEIR_ISA
}  // namespace weir
