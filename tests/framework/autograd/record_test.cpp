// framework/autograd/record.cpp: what is recorded, and which writes are refused.
#include "framework/autograd/engine.h"
#include "framework/ops/activation.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/functional.h"
#include "framework/ops/reduce.h"
#include "framework/ops/unary.h"
#include "tests/framework/tensors.h"

namespace weir {
using test::expect_error;
using test::leaf;
using test::Numbers;
using test::numbers;
using test::tensor;

static void run_backward(const Tensor& y) { backward({fn::sum(y)}, {}, {}, {}); }
static void multiply(const Tensor& t, double by) { fn::mul.inplace(t, num(by)); }

TEST(Record, NamesNodesAsPyTorch) {
  Tensor y = leaf({1}) * 2.0;
  EXPECT_EQ(grad_fn(y)->name(), "MulBackward0");
  EXPECT_EQ(grad_fn(fn::leaky_relu(y))->name(), "LeakyReluBackward0");
}

TEST(Record, NothingWithoutGradMode) {
  GradMode off(false);
  Tensor y = leaf({1}) * 2.0;
  EXPECT_FALSE(requires_grad(y));
  EXPECT_TRUE(is_leaf(y));
}

TEST(Record, NothingForTensorsThatNeedNone) { EXPECT_FALSE(requires_grad(tensor({1}) * 2.0)); }

TEST(Record, NothingForComparisons) { EXPECT_FALSE(requires_grad(leaf({1}) > 0.0)); }

TEST(SavedTensor, ChangedInPlaceRaisesInBackward) {
  Tensor a = leaf({2}), b = a * 1.0, y = b * b;
  multiply(b, 2);
  expect_error<Error>([&] { run_backward(y); }, "modified by an inplace operation: mul saved a tensor of shape [1]");
}

TEST(SavedTensor, ChangedThroughAViewRaisesToo) {
  Tensor a = leaf({2, 3}), b = a * 1.0, y = b * b;
  GradMode off(false);
  multiply(alias(b, {1}, {1}, 1), 2);
  GradMode on(true);
  EXPECT_THROW(run_backward(y), Error);
}

TEST(SavedTensor, NotNeededMayChange) {
  Tensor a = leaf({2}), b = a * 1.0, y = b + b;
  multiply(b, 2);
  run_backward(y);
  EXPECT_EQ(numbers(grad_of(a)), (Numbers{2}));
}

TEST(SavedResult, ChangedInPlaceRaises) {
  Tensor a = leaf({2}), y = fn::exp(a);
  Tensor z = y * 1.0;
  multiply(y, 2);
  EXPECT_THROW(run_backward(z), Error);
}

TEST(Inplace, OnAnInnerTensorIsPartOfItsHistory) {
  Tensor a = leaf({2}), b = a * 3.0;
  multiply(b, 5);
  EXPECT_EQ(numbers(b), (Numbers{30}));
  run_backward(b);
  EXPECT_EQ(numbers(grad_of(a)), (Numbers{15}));
}

TEST(Inplace, OnALeafIsRefusedBeforeAnyWork) {
  Tensor a = leaf({2});
  expect_error<Error>([&] { multiply(a, 5); }, "a leaf Variable that requires grad");
  EXPECT_EQ(numbers(a), (Numbers{2}));
  EXPECT_EQ(a.version(), 0u);
}

TEST(Inplace, OnALeafIsFineWithoutGradMode) {
  Tensor a = leaf({2});
  {
    GradMode off(false);
    multiply(a, 5);
  }
  EXPECT_EQ(numbers(a), (Numbers{10}));
}

TEST(Out, IsRefusedWhereItWouldLoseHistory) {
  Tensor a = leaf({2}), b = a * 1.0, out[1] = {b};
  Mul op = make_op<Mul>();
  expect_error<Error>([&] { call(op_type<Mul>(), &op, std::array{a, a}, out); }, "don't support automatic differentiation");
}

}  // namespace weir
