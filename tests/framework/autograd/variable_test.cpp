#include "framework/autograd/variable.h"

#include "framework/autograd/engine.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/functional.h"
#include "framework/ops/reduce.h"
#include "framework/ops/view.h"
#include "tests/framework/tensors.h"

namespace weir {
using test::expect_error;
using test::leaf;
using test::Numbers;
using test::numbers;
using test::tensor;

static void run_backward(const Tensor& y) { backward({fn::sum(y)}, {}, {}, {}); }

TEST(RequiresGrad, IsForFloatingPointOnly) {
  Tensor t = tensor({1}, DType::int64);
  expect_error<Error>([&] { set_requires_grad(t, true); }, "only Tensors of floating point");
}

TEST(RequiresGrad, CannotBeClearedOnAResult) {
  Tensor y = leaf({1}) * 2.0;
  expect_error<Error>([&] { set_requires_grad(y, false); }, "leaf variables");
}

TEST(Leaf, HasNoNode) {
  Tensor a = leaf({1}), y = a * 2.0;
  EXPECT_TRUE(is_leaf(a));
  EXPECT_FALSE(is_leaf(y));
  EXPECT_TRUE(is_leaf(tensor({1})));
}

TEST(Hook, OnALeafMayChangeTheGradient) {
  Tensor a = leaf({1, 2});
  uint64_t id = add_hook(a, [](const Tensor& g) { return g * 10.0; });
  run_backward(a * 1.0);
  EXPECT_EQ(numbers(grad_of(a)), (Numbers{10, 10}));
  remove_hook(a, id);
  run_backward(a * 1.0);
  EXPECT_EQ(numbers(grad_of(a)), (Numbers{11, 11}));
}

TEST(Hook, OnAResultRunsOnceOnTheWholeGradient) {
  Tensor a = leaf({1}), y = a * 3.0;
  std::vector<Numbers> seen;
  add_hook(y, [&](const Tensor& g) { return seen.push_back(numbers(g)), Tensor(); });
  run_backward(y * 2.0 + y * 5.0);
  EXPECT_EQ(seen, (std::vector<Numbers>{{7}}));
  EXPECT_EQ(numbers(grad_of(a)), (Numbers{21}));
}

TEST(Hook, NeedsATensorThatTakesPart) {
  expect_error<Error>([] { add_hook(tensor({1}), [](const Tensor& g) { return g; }); }, "doesn't require gradient");
}

TEST(RetainGrad, KeepsTheGradientOfAResult) {
  Tensor a = leaf({2}), y = a * 3.0;
  EXPECT_FALSE(grad_of(y).defined());
  retain_grad(y);
  run_backward(y * y);
  EXPECT_EQ(numbers(grad_of(y)), (Numbers{12}));
}

TEST(RetainGrad, OnALeafDoesNothing) {
  Tensor a = leaf({2});
  retain_grad(a);
  run_backward(a * 3.0);
  EXPECT_EQ(numbers(grad_of(a)), (Numbers{3}));
}

TEST(Detach, SharesMemoryAndVersionWithoutHistory) {
  Tensor a = leaf({2}), y = a * 3.0, d = detach(y);
  EXPECT_FALSE(requires_grad(d));
  EXPECT_EQ(d.raw(), y.raw());
  bump_version(d);
  EXPECT_EQ(y.version(), 1u);
}

TEST(View, OfALeafPassesItsGradientOn) {
  Tensor a = leaf({1, 2, 3});
  run_backward(fn::select(a, int64_t(0), int64_t(1)) * 4.0);
  EXPECT_EQ(numbers(grad_of(a)), (Numbers{0, 4, 0}));
}

}  // namespace weir
