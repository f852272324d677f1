#include "framework/core/dims.h"

#include "tests/framework/tensors.h"

namespace weir {
using test::expect_error;

TEST(Dims, HoldsUpToTheMost) {
  Dims d(kMaxDims, 1);
  EXPECT_EQ(d.n, kMaxDims);
  expect_error<Error>([&] { d.push(1); }, "at most 64 dimensions");
}

TEST(Dims, InsertAndEraseKeepTheOrder) {
  Dims d{2, 3, 4};
  d.insert(1, 9);
  EXPECT_EQ(d, (Dims{2, 9, 3, 4}));
  d.erase(0);
  EXPECT_EQ(d, (Dims{9, 3, 4}));
  d.insert(3, 5);
  EXPECT_EQ(d.back(), 5);
}

TEST(Dims, EqualityIgnoresWhatLiesBeyondTheEnd) {
  Dims a{1, 2, 3}, b{1, 2, 7};
  a.n = b.n = 2;
  EXPECT_EQ(a, b);
  EXPECT_FALSE(a == (Dims{1}));
}

TEST(Dims, ProductOfNoneIsOne) {
  EXPECT_EQ(Dims{}.product(), 1);
  EXPECT_EQ((Dims{3, 0, 5}).product(), 0);
}

TEST(Dims, UnsetOnesCopy) {
  Dims unset;
  unset.n = -1;
  Dims copy = unset, assigned{1, 2};
  assigned = unset;
  EXPECT_EQ(copy.n, -1);
  EXPECT_EQ(assigned.n, -1);
}

TEST(Dims, PrintsAsPythonLists) { EXPECT_EQ(str(Dims{2, 3}), "[2, 3]"); }

TEST(ContiguousStrides, CountEmptyAxesAsOne) {
  EXPECT_EQ(contiguous_strides({2, 3, 4}), (Dims{12, 4, 1}));
  EXPECT_EQ(contiguous_strides({2, 0, 4}), (Dims{4, 4, 1}));
  EXPECT_EQ(contiguous_strides({}), Dims{});
}

TEST(WrapDim, CountsFromTheEnd) {
  EXPECT_EQ(wrap_dim(-1, 3, "op"), 2);
  EXPECT_EQ(wrap_dim(2, 3, "op"), 2);
}

TEST(WrapDim, TakesAScalarForOneAxis) {
  EXPECT_EQ(wrap_dim(-1, 0, "op"), 0);
  EXPECT_EQ(wrap_dim(0, 0, "op"), 0);
}

TEST(WrapDim, NamesOpAndRange) {
  expect_error<IndexError>([] { wrap_dim(3, 3, "softmax"); },
                           "softmax: Dimension out of range (expected to be in range of [-3, 2], but got 3)");
  expect_error<IndexError>([] { wrap_dim(-2, 0, "sum"); }, "[-1, 0]");
}

}  // namespace weir
