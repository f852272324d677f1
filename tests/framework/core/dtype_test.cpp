#include "framework/core/dtype.h"

#include <cmath>
#include <limits>

#include "tests/framework/tensors.h"

namespace weir {

// torch.promote_types(row, column), by the number of the result: PyTorch 2.13.0.
constexpr int kPromoted[kNumDTypes][kNumDTypes] = {
    // bool u8 i8 i16 i32 i64 f16 bf16 f32 f64 c64 c128
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11},             // bool
    {1, 1, 3, 3, 4, 5, 6, 7, 8, 9, 10, 11},             // uint8
    {2, 3, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11},             // int8
    {3, 3, 3, 3, 4, 5, 6, 7, 8, 9, 10, 11},             // int16
    {4, 4, 4, 4, 4, 5, 6, 7, 8, 9, 10, 11},             // int32
    {5, 5, 5, 5, 5, 5, 6, 7, 8, 9, 10, 11},             // int64
    {6, 6, 6, 6, 6, 6, 6, 8, 8, 9, 10, 11},             // float16
    {7, 7, 7, 7, 7, 7, 8, 7, 8, 9, 10, 11},             // bfloat16
    {8, 8, 8, 8, 8, 8, 8, 8, 8, 9, 10, 11},             // float32
    {9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 11, 11},             // float64
    {10, 10, 10, 10, 10, 10, 10, 10, 10, 11, 10, 11},   // complex64
    {11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11},   // complex128
};

template <class F> void for_each_pair(F&& f) {
  for (int a = 0; a < kNumDTypes; a++)
    for (int b = 0; b < kNumDTypes; b++) f(DType(a), DType(b));
}

TEST(DType, PromotesAsPyTorch) {
  for_each_pair([](DType a, DType b) {
    EXPECT_EQ(int(promote_types(a, b)), kPromoted[int(a)][int(b)]) << name_of(a) << ", " << name_of(b);
  });
}

TEST(DType, CastsToTheSameOrAHigherCategory) {
  auto category = [](DType t) { return t == DType::boolean ? 0 : is_complex(t) ? 3 : is_floating(t) ? 2 : 1; };
  for_each_pair([&](DType from, DType to) {
    EXPECT_EQ(can_cast(from, to), category(from) <= category(to)) << name_of(from) << " to " << name_of(to);
  });
}

TEST(DType, EachIsInOneCategory) {
  for (int i = 0; i < kNumDTypes; i++)
    EXPECT_EQ((DType(i) == DType::boolean) + is_integral(DType(i)) + is_floating(DType(i)) + is_complex(DType(i)), 1) << name_of(DType(i));
}

TEST(DType, SizesAndTypesAgree) {
  for (int i = 0; i < kNumDTypes; i++)
    visit_dtype(DType(i), [&](auto tag) {
      using T = typename decltype(tag)::type;
      EXPECT_EQ(sizeof(T), size_of(DType(i)));
      EXPECT_EQ(dtype_of<T>(), DType(i));
    });
}

TEST(BFloat16, RoundsToNearestEven) {
  EXPECT_EQ(BFloat16(1.0f).bits, 0x3f80);
  EXPECT_EQ(BFloat16(std::bit_cast<float>(0x3f808000u)).bits, 0x3f80);  // a tie, to even
  EXPECT_EQ(BFloat16(std::bit_cast<float>(0x3f818000u)).bits, 0x3f82);  // a tie, to even
  EXPECT_EQ(BFloat16(std::bit_cast<float>(0x3f808001u)).bits, 0x3f81);
}

TEST(BFloat16, KeepsWhatIsNotFinite) {
  EXPECT_TRUE(std::isnan(float(BFloat16(NAN))));
  // A NaN whose payload lies in the dropped bits alone would round to infinity.
  EXPECT_TRUE(std::isnan(float(BFloat16(std::bit_cast<float>(0x7f800001u)))));
  EXPECT_EQ(float(BFloat16(-INFINITY)), -INFINITY);
  EXPECT_EQ(float(BFloat16(std::numeric_limits<float>::max())), INFINITY);
}

}  // namespace weir
