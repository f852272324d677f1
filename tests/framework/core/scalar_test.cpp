#include "framework/core/scalar.h"

#include <gtest/gtest.h>

namespace weir {

TEST(Scalar, KeepsTheKindOfAPythonNumber) {
  EXPECT_EQ(Scalar(true).dtype(), DType::boolean);
  EXPECT_EQ(Scalar(2).dtype(), DType::int64);
  EXPECT_EQ(Scalar(2.0).dtype(), DType::float32);
  EXPECT_EQ(Scalar(2.0).dtype(DType::float64), DType::float64);
}

TEST(Scalar, HoldsIntegersThatNoDoubleDoes) {
  int64_t big = (int64_t(1) << 53) + 1;
  EXPECT_EQ(Scalar(big).to_int(), big);
  EXPECT_EQ(Scalar(big).to<int64_t>(), big);
}

TEST(Scalar, Converts) {
  EXPECT_EQ(Scalar(2.75).to_int(), 2);
  EXPECT_EQ(Scalar(-3).to_double(), -3.0);
  EXPECT_EQ(Scalar(true).to<float>(), 1.0f);
}

}  // namespace weir
