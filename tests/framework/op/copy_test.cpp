#include "framework/op/copy.h"

#include "tests/framework/tensors.h"

namespace weir {
using test::expect_error;
using test::Numbers;
using test::numbers;
using test::tensor;

TEST(CopyInto, BroadcastsAndCasts) {
  Tensor t = tensor({2, 2}, {0, 0, 0, 0}, DType::int32);
  copy_into(t, tensor({1.9, -2.9}));
  EXPECT_EQ(numbers(t), (Numbers{1, -2, 1, -2}));
  EXPECT_EQ(t.version(), 1u);
}

TEST(CopyInto, RefusesASourceThatOverlapsInPart) {
  Tensor t = tensor({1, 2, 3, 4});
  EXPECT_THROW(copy_into(alias(t, {3}, {1}, 1), alias(t, {3}, {1}, 0)), Error);
  copy_into(alias(t, {3}, {1}, 1), alias(t, {3}, {1}, 1));
  EXPECT_EQ(numbers(t), (Numbers{1, 2, 3, 4}));
}

TEST(CopyInto, EveryPairOfDtypesKeepsSmallIntegers) {
  for (int a = 1; a < kNumDTypes; a++)
    for (int b = 1; b < kNumDTypes; b++) {
      if (DType(a) == DType::float8_e8m0fnu || DType(b) == DType::float8_e8m0fnu) continue;  // it has no zero
      Tensor to = tensor({0, 0, 0}, DType(a));
      copy_into(to, tensor({0, 1, 96}, DType(b)));
      EXPECT_EQ(numbers(to), (Numbers{0, 1, 96})) << name_of(DType(b)) << " to " << name_of(DType(a));
    }
}

TEST(CopyInto, RefusesAShapeThatDoesNotExpand) {
  Tensor t = tensor({0, 0});
  expect_error<Error>([&] { copy_into(t, tensor({1, 2, 3})); }, "Target sizes: [2]. Tensor sizes: [3]");
  expect_error<Error>([&] { copy_into(t, tensor({1, 2}, {1, 2})); }, "Tensor sizes: [1, 2]");
}

TEST(Resize, KeepsTheContentAndGrowsTheStorage) {
  Tensor t = tensor({1, 2});
  resize(t, {2, 2000});
  EXPECT_EQ(t.sizes(), (Dims{2, 2000}));
  EXPECT_EQ(t.data<float>()[1], 2.0f);
  resize(t, {1});
  EXPECT_EQ(t.numel(), 1);
  EXPECT_GE(t->storage->bytes, 16000u);
}

}  // namespace weir
