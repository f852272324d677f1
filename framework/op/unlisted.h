// Ops that have a type and no place in the registry: passes make them, no name finds them.
#pragma once
#include "framework/op/op.h"

namespace weir {

/// `static const Unlisted<Fused> ops;` in the op's .cpp, as Register is for those that have a name.
template <class... T> struct Unlisted {
  Unlisted() { (make<T>(), ...); }

 private:
  template <class U> static void make() {
    static OpType type = make_op_type<U>();
    type_slot<U> = &type;
  }
};

}  // namespace weir
