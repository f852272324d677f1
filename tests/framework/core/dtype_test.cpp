#include "framework/core/dtype.h"
#include "framework/core/storage_types.h"

#include <cmath>
#include <limits>

#include "tests/framework/tensors.h"

namespace weir {

// torch.promote_types(row, column), by the number of the result and -1 where it raises: PyTorch 2.13.0.
constexpr int kPromoted[kNumDTypes][kNumDTypes] = {
    {0, 1, 2, 3, 4, 5, -1, -1, -1, -1, -1, -1, -1, -1, 14, 15, 16, 17, 18, 19, 20},  // bool
    {1, 1, 3, 3, 4, 5, -1, -1, -1, -1, -1, -1, -1, -1, 14, 15, 16, 17, 18, 19, 20},  // uint8
    {2, 3, 2, 3, 4, 5, -1, -1, -1, -1, -1, -1, -1, -1, 14, 15, 16, 17, 18, 19, 20},  // int8
    {3, 3, 3, 3, 4, 5, -1, -1, -1, -1, -1, -1, -1, -1, 14, 15, 16, 17, 18, 19, 20},  // int16
    {4, 4, 4, 4, 4, 5, -1, -1, -1, -1, -1, -1, -1, -1, 14, 15, 16, 17, 18, 19, 20},  // int32
    {5, 5, 5, 5, 5, 5, -1, -1, -1, -1, -1, -1, -1, -1, 14, 15, 16, 17, 18, 19, 20},  // int64
    {-1, -1, -1, -1, -1, -1, 6, -1, -1, -1, -1, -1, -1, -1, 14, 15, 16, 17, -1, -1, -1},  // uint16
    {-1, -1, -1, -1, -1, -1, -1, 7, -1, -1, -1, -1, -1, -1, 14, 15, 16, 17, -1, -1, -1},  // uint32
    {-1, -1, -1, -1, -1, -1, -1, -1, 8, -1, -1, -1, -1, -1, 14, 15, 16, 17, -1, -1, -1},  // uint64
    {-1, -1, -1, -1, -1, -1, -1, -1, -1, 9, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1},  // float8_e5m2
    {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 10, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1},  // float8_e4m3fn
    {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 11, -1, -1, -1, -1, -1, -1, -1, -1, -1},  // float8_e5m2fnuz
    {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 12, -1, -1, -1, -1, -1, -1, -1, -1},  // float8_e4m3fnuz
    {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 13, -1, -1, -1, -1, -1, -1, -1},  // float8_e8m0fnu
    {14, 14, 14, 14, 14, 14, 14, 14, 14, -1, -1, -1, -1, -1, 14, 16, 16, 17, 18, 19, 20},  // float16
    {15, 15, 15, 15, 15, 15, 15, 15, 15, -1, -1, -1, -1, -1, 16, 15, 16, 17, 19, 19, 20},  // bfloat16
    {16, 16, 16, 16, 16, 16, 16, 16, 16, -1, -1, -1, -1, -1, 16, 16, 16, 17, 19, 19, 20},  // float32
    {17, 17, 17, 17, 17, 17, 17, 17, 17, -1, -1, -1, -1, -1, 17, 17, 17, 17, 20, 20, 20},  // float64
    {18, 18, 18, 18, 18, 18, -1, -1, -1, -1, -1, -1, -1, -1, 18, 19, 19, 20, 18, 19, 20},  // complex32
    {19, 19, 19, 19, 19, 19, -1, -1, -1, -1, -1, -1, -1, -1, 19, 19, 19, 20, 19, 19, 20},  // complex64
    {20, 20, 20, 20, 20, 20, -1, -1, -1, -1, -1, -1, -1, -1, 20, 20, 20, 20, 20, 20, 20},  // complex128
};

template <class F> void for_each_pair(F&& f) {
  for (int a = 0; a < kNumDTypes; a++)
    for (int b = 0; b < kNumDTypes; b++) f(DType(a), DType(b));
}

TEST(DType, PromotesAsPyTorch) {
  for_each_pair([](DType a, DType b) {
    int promoted = -1;
    try {
      promoted = int(promote_types(a, b));
    } catch (const Error&) {
    }
    EXPECT_EQ(promoted, kPromoted[int(a)][int(b)]) << name_of(a) << ", " << name_of(b);
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
  for (int i = 0; i < kNumDTypes; i++) {
    const DType t = DType(i);
    visit_any_dtype(t, [&]<class T>(TypeTag<T>) {
      EXPECT_EQ(sizeof(T), size_of(t)) << name_of(t);
      EXPECT_EQ((!std::is_same_v<T, typename Carrier<T>::type>), is_storage_only(t) && t != DType::uint64) << name_of(t);
    });
    if (is_storage_only(t)) EXPECT_THROW(visit_dtype(t, [](auto) {}), NotImplemented) << name_of(t);
    else visit_dtype(t, [&]<class T>(TypeTag<T>) { EXPECT_EQ(dtype_of<T>(), t); });
  }
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
