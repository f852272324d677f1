#include "framework/core/storage_types.h"

#include <gtest/gtest.h>

namespace weir {

using E5M2 = Float8<DType::float8_e5m2>;
using E4M3 = Float8<DType::float8_e4m3fn>;
using E4M3Fnuz = Float8<DType::float8_e4m3fnuz>;
using E8M0 = Float8<DType::float8_e8m0fnu>;

template <class T> void expect_codes_survive() {
  for (int code = 0; code < 256; code++) {
    T x;
    x.bits = uint8_t(code);
    const float value = x;
    if (value == value) EXPECT_EQ(T(value).bits, code);
    else EXPECT_TRUE(std::isnan(float(T(value))));
  }
}

TEST(Float8, EveryCodeComesBack) {
  expect_codes_survive<E5M2>();
  expect_codes_survive<E4M3>();
  expect_codes_survive<Float8<DType::float8_e5m2fnuz>>();
  expect_codes_survive<E4M3Fnuz>();
  expect_codes_survive<E8M0>();
}

TEST(Float8, RoundsToNearestEven) {
  EXPECT_EQ(float(E4M3(17.0f)), 16.0f);  // a tie between 16 and 18
  EXPECT_EQ(float(E4M3(19.0f)), 20.0f);
  EXPECT_EQ(float(E4M3(17.01f)), 18.0f);
  EXPECT_EQ(float(E5M2(1.125f)), 1.0f);
  EXPECT_EQ(float(E4M3(std::ldexp(1.5f, -9))), std::ldexp(1.0f, -8));  // between its two smallest numbers
  EXPECT_EQ(float(E8M0(1.5f)), 2.0f);
}

TEST(Float8, EachFormatHasItsOwnWayBeyondItsLargestNumber) {
  EXPECT_EQ(float(E5M2(1e6f)), INFINITY);
  EXPECT_EQ(float(E4M3(-1e6f)), -448.0f);
  EXPECT_TRUE(std::isnan(float(E4M3Fnuz(1e6f))));
  EXPECT_TRUE(std::isnan(float(E8M0(INFINITY))));
}

TEST(Float8, FnuzHasNoNegativeZero) { EXPECT_EQ(E4M3Fnuz(-0.0f).bits, 0); }

TEST(ComplexHalf, RoundsBothParts) {
  const std::complex<float> z = ComplexHalf({1 + std::ldexp(1.0f, -11), 70000});
  EXPECT_EQ(z, std::complex<float>(1, INFINITY));
}

}  // namespace weir
