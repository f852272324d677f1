// An op's attributes, each as the type its struct holds it in.
#pragma once
#include "framework/op/op.h"

namespace weir::graph {

/// Calls `f` with the member of kind `ty` at `p`: not for inputs, nor for generators, which a graph has not. `Byte`: std::byte, const or not.
template <class Byte, class F> void visit_member(Ty ty, Byte* p, F&& f) {
  auto as = [&]<class T>(std::type_identity<T>) {
    f(*reinterpret_cast<std::conditional_t<std::is_const_v<Byte>, const T, T>*>(p));
  };
  auto either = [&]<class T>(std::type_identity<T> plain, bool optional) { optional ? as(std::type_identity<std::optional<T>>()) : as(plain); };
  switch (ty) {
    case Ty::i64: case Ty::opt_i64: return either(std::type_identity<int64_t>(), ty == Ty::opt_i64);
    case Ty::f64: case Ty::opt_f64: return either(std::type_identity<double>(), ty == Ty::opt_f64);
    case Ty::boolean: case Ty::opt_boolean: return either(std::type_identity<bool>(), ty == Ty::opt_boolean);
    case Ty::number: case Ty::opt_number: return either(std::type_identity<Scalar>(), ty == Ty::opt_number);
    case Ty::ints: case Ty::opt_ints: return either(std::type_identity<Dims>(), ty == Ty::opt_ints);
    case Ty::floats: case Ty::opt_floats: return either(std::type_identity<Floats>(), ty == Ty::opt_floats);
    case Ty::str: case Ty::opt_str: return either(std::type_identity<Str>(), ty == Ty::opt_str);
    case Ty::dtype: case Ty::opt_dtype: return either(std::type_identity<DType>(), ty == Ty::opt_dtype);
    case Ty::opt_device: return as(std::type_identity<std::optional<Device>>());
    case Ty::opt_memory_format: return as(std::type_identity<std::optional<MemoryFormat>>());
    case Ty::tensor: case Ty::opt_tensor: case Ty::tensors: case Ty::places: case Ty::generator: return;
  }
}

}  // namespace weir::graph
