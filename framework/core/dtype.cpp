#include "framework/core/dtype.h"

#include "framework/core/error.h"

namespace weir {

void no_complex_type(DType t) { throw Error(str("Unknown Complex ScalarType for ", name_of(t))); }

void no_common_type(DType a, DType b) {
  const char* types = is_float8(a) || is_float8(b) ? "Float8 Types is" : "uint16, uint32, uint64 types is";
  throw Error(str("Promotion for ", types, " not supported, attempted to promote ", name_of(a), " and ", name_of(b)));
}

void no_kernel_computes(DType t) { throw NotImplemented(str("not implemented for '", name_of(t), "'")); }

}  // namespace weir
