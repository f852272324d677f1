#include "framework/core/layout.h"

#include "tests/framework/tensors.h"

namespace weir {

TEST(DenseStrides, FollowTheFirstOperandThatTellsAxesApart) {
  EXPECT_EQ(dense_strides({3, 4}, std::array{Dims{2, 8}}), (Dims{1, 3}));
  EXPECT_EQ(dense_strides({3, 4}, std::array{Dims{0, 1}, Dims{1, 3}}), (Dims{1, 3}));
  EXPECT_EQ(dense_strides({3, 4}, std::array{Dims{4, 1}, Dims{1, 3}}), (Dims{4, 1}));
}

TEST(DenseStrides, AreRowMajorWhereNobodyTells) {
  EXPECT_EQ(dense_strides({2, 3, 4}, std::array{Dims{0, 0, 0}}), (Dims{12, 4, 1}));
  EXPECT_EQ(dense_strides({}, std::array{Dims{}}), (Dims{}));
}

TEST(IsApart, SeesOverlapsAndPassesOverHoles) {
  EXPECT_TRUE(is_apart({2, 3}, {3, 1}));
  EXPECT_TRUE(is_apart({2, 3}, {12, 2}));
  EXPECT_TRUE(is_apart({3, 1, 2}, {1, 0, 3}));
  EXPECT_TRUE(is_apart({0, 5}, {0, 0}));
  EXPECT_FALSE(is_apart({2, 3}, {2, 1}));
  EXPECT_FALSE(is_apart({4}, {0}));
}

TEST(WithStrides, KeepsDenseOnesAndClosesHoles) {
  auto laid_out = [](const Dims& sizes, const Dims& strides) {
    Tensor x = empty(Meta(sizes, strides, DType::float32, {}));
    return with_strides({sizes, DType::float32}, x);
  };
  EXPECT_TRUE(laid_out({3, 4}, {4, 1}).row_major());
  EXPECT_TRUE(laid_out({3, 4}, {8, 2}).row_major());
  EXPECT_EQ(laid_out({3, 4}, {2, 8}).strides, (Dims{1, 3}));
  EXPECT_EQ(laid_out({3, 1, 4}, {4, 7, 1}).strides, (Dims{4, 7, 1}));
}

}  // namespace weir
