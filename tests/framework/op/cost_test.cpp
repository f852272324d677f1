#include "framework/op/cost.h"

#include "tests/framework/tensors.h"

namespace weir {
namespace {

// An op of this notation: nothing else of it is asked for.
Cost cost(Notation notation, std::vector<Dims> in, std::vector<Dims> out) {
  OpType type{};
  type.notation = notation;
  auto made = [](const std::vector<Dims>& sizes) {
    Tensors all;
    for (const Dims& s : sizes) all.push_back(empty(s, DType::float32));
    return all;
  };
  Tensors a = made(in), b = made(out);
  return cost_of(type, a, b);
}

TEST(Cost, SumsOverWhatInputsShareAndResultsLack) {
  Cost c = cost("nm, mp -> np", {{2, 3}, {3, 5}}, {{2, 5}});
  EXPECT_TRUE(c.product);
  EXPECT_EQ(c.flops, 2 * 2 * 3 * 5);
  EXPECT_EQ(c.bytes, 4 * (6 + 15 + 10));
  EXPECT_EQ(cost("n, n ->", {{7}, {7}}, {{}}).flops, 14);
  EXPECT_FALSE(cost("n, m -> nm", {{2}, {3}}, {{2, 3}}).product);
}

TEST(Cost, BindsRunsOfAxes) {
  EXPECT_EQ(cost("Xi, oi, o -> Xo", {{4, 5, 3}, {2, 3}, {2}}, {{4, 5, 2}}).flops, 2 * 20 * 3 * 2);
  EXPECT_EQ(cost("Xi, oi, o -> Xo", {{3}, {2, 3}, {2}}, {{2}}).flops, 2 * 3 * 2);
}

TEST(Cost, CountsWindowsAndGroups) {
  const Notation conv = "n(gc)[D+K], (go)cK, (go) -> n(go)D", input = "n(go)D, (go)cK, (gc) -> n(gc)[D+K]", weight = "n(gc)[D+K], n(go)D -> (go)cK";
  const Dims x{2, 6, 9, 8}, w{4, 3, 3, 2}, y{2, 4, 7, 7};
  const int64_t products = 2 * 2 * 4 * 3 * (7 * 7) * (3 * 2);
  EXPECT_EQ(cost(conv, {x, w, {4}}, {y}).flops, products);
  EXPECT_EQ(cost(input, {y, w, {6}}, {x}).flops, products);
  EXPECT_EQ(cost(weight, {x, y}, {w}).flops, products);
}

TEST(Cost, TakesProductsThatAreWritten) {
  Cost c = cost("bhqe, bgke, bgkv, -> bhqv, bhq | bhqke + bhqkv", {{2, 4, 5, 3}, {2, 2, 6, 3}, {2, 2, 6, 7}}, {{2, 4, 5, 7}, {2, 4, 5}});
  EXPECT_EQ(c.flops, 2 * (2 * 4 * 5 * 6 * 3 + 2 * 4 * 5 * 6 * 7));
}

TEST(Cost, OfTheOtherKinds) {
  EXPECT_EQ(cost("view", {{4, 4}}, {{16}}).bytes, 0);
  EXPECT_EQ(cost("fill", {{4}}, {{4}}).bytes, 16);
  EXPECT_EQ(cost("gather", {{1000, 8}, {2}}, {{2, 8}}).bytes, 4 * (16 + 2 + 16));
  EXPECT_EQ(cost("reduce dim", {{4, 8}}, {{4}}).flops, 32);
  EXPECT_EQ(cost("pointwise", {{4, 8}, {8}}, {{4, 8}}).flops, 32);
  EXPECT_EQ(cost("move", {{4, 8}}, {{4, 8}}).flops, 0);
}

TEST(Cost, EveryFormulaHasAxesForItsTensors) {
  for (const OpType* type : registry()) {
    if (type->notation.kind != Notation::formula) continue;
    const std::string_view text = type->notation.text, inputs = text.substr(0, text.find("->"));
    int tensors = 0;
    for (int i = 0; i < type->signature->n; i++) tensors += is_input(type->signature->params[i].ty);
    EXPECT_EQ(1 + std::count(inputs.begin(), inputs.end(), ','), tensors) << type->signature->name << ": " << text;
    const std::string_view outputs = text.substr(text.find("->"));
    EXPECT_EQ(1 + std::count(outputs.begin(), outputs.end(), ','), type->signature->num_outputs) << type->signature->name << ": " << text;
  }
}

}  // namespace
}  // namespace weir
