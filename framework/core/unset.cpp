#include "framework/core/unset.h"

#include <cstring>

namespace weir {

bool fill_unset_memory = false;

void write_unset(std::byte* p, int64_t bytes, DType dtype) {
  int byte = 0xff;  // a NaN, or the largest number without a sign
  if (dtype == DType::boolean) byte = 1;
  if (dtype == DType::float8_e4m3fnuz || dtype == DType::float8_e5m2fnuz) byte = 0x80;  // their only NaN
  std::memset(p, byte, size_t(bytes));
  const int64_t size = int64_t(size_of(dtype));
  if (is_complex(dtype))  // the real part alone, as in PyTorch
    for (int64_t i = 0; i + size <= bytes; i += size) std::memset(p + i + size / 2, 0, size_t(size / 2));
  if (is_integral(dtype) && !is_unsigned(dtype))
    for (int64_t i = size - 1; i < bytes; i += size) p[i] = std::byte{0x7f};
}

}  // namespace weir
