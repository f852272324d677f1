#include "framework/op/signature.h"

#include <gtest/gtest.h>

namespace weir {

TEST(Signature, ReadsNamesTypesAndDefaults) {
  static constexpr Signature s = "softmax(input: Tensor, dim: int, dtype: dtype | None = None) -> Tensor";
  EXPECT_EQ(s.name, "softmax");
  EXPECT_EQ(s.overload, "");
  EXPECT_EQ(s.n, 3);
  EXPECT_EQ(s.params[0].ty, Ty::tensor);
  EXPECT_EQ(s.params[1].name, "dim");
  EXPECT_EQ(s.params[1].ty, Ty::i64);
  EXPECT_TRUE(s.params[1].fallback.empty());
  EXPECT_EQ(s.params[2].ty, Ty::opt_dtype);
  EXPECT_EQ(s.params[2].fallback, "None");
  EXPECT_EQ(s.returns, "Tensor");
  EXPECT_EQ(s.num_outputs, 1);
}

TEST(Signature, AStarMakesTheRestKeywordOnly) {
  static constexpr Signature s = "add(input: Tensor | Number, other: Tensor | Number, *, alpha: Number = 1) -> Tensor";
  EXPECT_EQ(s.n, 3);
  EXPECT_FALSE(s.params[1].keyword_only);
  EXPECT_TRUE(s.params[2].keyword_only);
  EXPECT_TRUE(s.params[1].number_ok);
  EXPECT_FALSE(s.params[2].number_ok);
}

TEST(Signature, AVariadicParameterIsOfInts) {
  static constexpr Signature s = "view(input: Tensor, *size: int) -> Tensor";
  EXPECT_EQ(s.params[1].name, "size");
  EXPECT_TRUE(s.params[1].variadic);
  EXPECT_EQ(s.params[1].ty, Ty::ints);
}

TEST(Signature, ADotNamesTheOverload) {
  static constexpr Signature s = "max.dim(input: Tensor, dim: int, keepdim: bool = False) -> (values: Tensor, indices: Tensor)";
  EXPECT_EQ(s.name, "max");
  EXPECT_EQ(s.overload, "dim");
  EXPECT_EQ(s.num_outputs, 2);
  EXPECT_EQ(s.outputs[0], "values");
  EXPECT_EQ(s.outputs[1], "indices");
}

TEST(Signature, ADefaultMayHoldAQuote) {
  static constexpr Signature s = "gelu(input: Tensor, *, approximate: str = 'none') -> Tensor";
  EXPECT_EQ(s.params[1].ty, Ty::str);
  EXPECT_EQ(s.params[1].fallback, "'none'");
}

TEST(Signature, NoParametersAreFine) {
  static constexpr Signature s = "nothing() -> list[Tensor]";
  EXPECT_EQ(s.n, 0);
  EXPECT_EQ(s.returns, "list[Tensor]");
}

TEST(Str, RaisesWhenTheTextIsTooLong) {
  EXPECT_EQ(Str("reflect").view(), "reflect");
  EXPECT_THROW(Str(std::string(32, 'x')), ValueError);
}

}  // namespace weir
