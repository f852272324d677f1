#include "framework/ops/place.h"

#include <algorithm>

#include "framework/core/scratch.h"
#include "framework/kernels/cpu/indexing.h"

namespace weir {
namespace WEIR_ISA {
namespace {

// The places in x of a row-major index into it; nothing is read or written where one lies outside.
Scratch<int64_t> places_in(const Tensor& x, const Tensor& given) {
  const Tensor index = row_major(given);
  const int64_t size = x.numel(), count = index.numel();
  const int64_t* at = index.data<int64_t>();
  if (!in_range(at, count, size, true))
    for (int64_t i = 0; i < count; i++)
      check<IndexError>(at[i] >= -size && at[i] < size, "out of range: tried to access index ", at[i], " on a tensor of ", size, " elements.");
  Scratch<int64_t> places(count);
  const bool dense = x.is_contiguous();
  const Dims sizes = x.sizes(), strides = x.strides();
  parallel_for(count, kGrain / 4, [&](int64_t b, int64_t e) {
    for (int64_t i = b; i < e; i++) places[i] = at[i] < 0 ? at[i] + size : at[i];
    for (int64_t i = b; !dense && i < e; i++) places[i] = offset_of(places[i], sizes, strides);
  });
  return places;
}

// So many numbers of a tensor that is not dense are read faster from a dense copy.
bool are_many(const Tensor& index, const Tensor& x) { return index.numel() > x.numel() / 4; }

void take(const Take&, Inputs in, Outputs out) {
  const Tensor x = are_many(in[1], in[0]) ? row_major(in[0]) : in[0];
  const Scratch<int64_t> places = places_in(x, in[1]);
  by_item_size(size_of(x.dtype()), [&]<class T>(TypeTag<T>) {
    const T* from = x.data<T>();
    T* to = out[0].data<T>();
    parallel_for(int64_t(places.size()), kGrain / 4, [&](int64_t b, int64_t e) {
      for (int64_t i = b; i < e; i++) to[i] = from[places[i]];
    });
  });
}

void put_at(const Put& op, Inputs in, Outputs out) {
  const Tensor source = row_major(in[2]);
  scattered(in, out[0], false, [&](const Tensor& to) {
    const Scratch<int64_t> places = places_in(to, in[1]);
    visit_dtype(to.dtype(), [&]<class T>(TypeTag<T>) {
      T* y = to.data<T>();
      const T* from = source.data<T>();
      const auto n = int64_t(places.size());
      if (op.accumulate) for (int64_t i = 0; i < n; i++) add_to(y[places[i]], from[i]);
      else for (int64_t i = 0; i < n; i++) y[places[i]] = from[i];
    });
  });
}

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

void check_available(int64_t available, int64_t wanted) {
  check(wanted <= available, "masked_scatter: expected the number of elements in source to be at least the number of ones in mask, got ", available, " and ", wanted);
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
  check_available(op.available, before);
}

void scatter_by_mask(const ScatterByMask&, Inputs in, Outputs out) {
  const Tensor x = row_major(in[0]), mask = row_major(in[1]), source = row_major(in[2]);
  const bool* holds = mask.data<bool>();
  const int64_t n = x.numel(), wanted = std::count(holds, holds + n, true);
  check_available(source.numel(), wanted);
  if (wanted == 0) return run_copy(x, out[0]);
  by_item_size(size_of(x.dtype()), [&]<class T>(TypeTag<T>) {
    const T *self = x.data<T>(), *from = source.data<T>();
    T* to = out[0].data<T>();
    for (int64_t i = 0, k = 0; i < n; i++) {  // without a branch: the last one is read again where no more is wanted
      const T given = from[std::min(k, wanted - 1)];
      if constexpr (std::is_integral_v<T>) to[i] = T(self[i] ^ ((self[i] ^ given) & T(-T(holds[i]))));
      else to[i] = holds[i] ? given : self[i];
      k += holds[i];
    }
  });
}

}  // namespace

static const bool registered = [] {
  set_kernel<Take, take>(DeviceType::cpu);
  set_kernel<Put, put_at>(DeviceType::cpu);
  set_kernel<CheckIndex, check_index>(DeviceType::cpu);
  set_kernel<MaskPositions, mask_positions>(DeviceType::cpu);
  set_kernel<ScatterByMask, scatter_by_mask>(DeviceType::cpu);
  return true;
}();

}  // namespace WEIR_ISA
}  // namespace weir
