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

TEST(Scalar, ComplexNumbersConvertToRealOnesOnlyWithoutImaginaryPart) {
  Scalar z(std::complex<double>(2, 3)), real(std::complex<double>(2, 0));
  EXPECT_EQ(z.dtype(), DType::complex64);
  EXPECT_EQ(z.dtype(DType::float64), DType::complex128);
  EXPECT_EQ(z.to<std::complex<float>>(), std::complex<float>(2, 3));
  EXPECT_THROW(z.to_double(), Error);
  EXPECT_EQ(real.to_double(), 2.0);
  EXPECT_EQ(Scalar(2).to_complex(), std::complex<double>(2, 0));
}

}  // namespace weir
