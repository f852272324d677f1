// framework/op/registry.cpp: what registration makes of a signature.
#include <algorithm>
#include <set>

#include "framework/ops/activation.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/reduce.h"
#include "tests/framework/tensors.h"

namespace weir {

template <class T> const T& defaults_of() { return *reinterpret_cast<const T*>(op_type<T>().defaults.data()); }

TEST(Registry, FindsByNameAndOverload) {
  EXPECT_EQ(find_op("add"), &op_type<Add>());
  EXPECT_EQ(find_op("max.dim"), &op_type<MaxDim>());
  EXPECT_EQ(find_op("no_such_op"), nullptr);
}

TEST(Registry, EveryOpHasItsOwnNameAndADoc) {
  std::set<std::string> names;
  for (const OpType* t : registry()) {
    std::string name = str(t->signature->name, ".", t->signature->overload);
    EXPECT_TRUE(names.insert(name).second) << name << " is registered twice";
    EXPECT_FALSE(std::string_view(t->doc).empty()) << name;
  }
}

TEST(Registry, EveryOpIsOfOneKind) {
  for (const OpType* t : registry())
    EXPECT_EQ((t->infer != nullptr) + (t->geometry != nullptr) + (t->compose != nullptr), 1) << t->signature->text;
}

// Forward mode, vmap and writes through views follow a view to the one tensor that it looks at.
TEST(Registry, AViewLooksAtOneTensor) {
  for (const OpType* t : registry()) {
    if (!t->geometry) continue;
    const Signature& s = *t->signature;
    EXPECT_EQ(std::count_if(s.params.begin(), s.params.begin() + s.n, [](const Param& p) { return is_input(p.ty); }), 1) << s.text;
    EXPECT_EQ(s.params[0].ty, Ty::tensor) << s.text;
  }
}

TEST(Registry, WritesTheDefaultsOfTheSignature) {
  EXPECT_EQ(defaults_of<Hardtanh>().min_val, -1.0);
  EXPECT_EQ(defaults_of<Hardtanh>().max_val, 1.0);
  EXPECT_EQ(defaults_of<Add>().alpha.to_int(), 1);
  EXPECT_FALSE(defaults_of<Add>().alpha.is_real());
  EXPECT_TRUE(defaults_of<Gelu>().approximate == "none");
  EXPECT_FALSE(defaults_of<Clamp>().min.has_value());
}

TEST(MakeOp, KeepsDefaultsOfWhatIsLeftOut) {
  Hardtanh op = make_op<Hardtanh>(-2.0);
  EXPECT_EQ(op.min_val, -2.0);
  EXPECT_EQ(op.max_val, 1.0);
}

}  // namespace weir
