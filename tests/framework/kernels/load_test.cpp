#include "framework/kernels/load.h"

#include <gtest/gtest.h>

#include "framework/op/op.h"

namespace weir {

TEST(LoadCpuKernels, NamesOneInstructionSetForGood) {
  std::string_view isa = load_cpu_kernels();
  EXPECT_TRUE(isa == "baseline" || isa == "avx2" || isa == "avx512") << isa;
  EXPECT_EQ(load_cpu_kernels(), isa);
}

TEST(LoadCpuKernels, FillsTheSlotOfEveryKernelOp) {
  for (const OpType* t : registry()) {
    bool needs_one = t->infer && !t->compose && !t->geometry;
    EXPECT_EQ(t->kernels[int(DeviceType::cpu)] != nullptr, needs_one) << t->signature->text;
  }
}

}  // namespace weir
