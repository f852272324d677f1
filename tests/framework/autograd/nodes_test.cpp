// framework/autograd/nodes.cpp: leaves, and in-place writes through views.
#include "framework/autograd/nodes.h"

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
static void multiply(const Tensor& t, double by) { fn::mul.inplace(t, num(by)); }
static Tensor part(const Tensor& t, int64_t start, int64_t length) { return fn::narrow(t, int64_t(0), start, length); }

TEST(CopySlices, SendsTheSliceThroughTheOpAndTheRestPast) {
  Tensor a = leaf({1, 2, 3, 4}), b = a * 1.0;
  multiply(part(b, 1, 2), 10);
  EXPECT_EQ(numbers(b), (Numbers{1, 20, 30, 4}));
  EXPECT_EQ(grad_fn(b)->name(), "CopySlices");
  run_backward(b * b);
  EXPECT_EQ(numbers(grad_of(a)), (Numbers{2, 400, 600, 8}));
}

TEST(CopySlices, GivesTheOtherOperandItsGradient) {
  Tensor a = leaf({1, 2, 3}), w = leaf({5}), b = a * 1.0, slice = part(b, 1, 1);
  fn::mul.inplace(slice, w);
  run_backward(b);
  EXPECT_EQ(numbers(grad_of(w)), (Numbers{2}));
  EXPECT_EQ(numbers(grad_of(a)), (Numbers{1, 5, 1}));
}

TEST(CopySlices, WorksOnTransposedBases) {
  Tensor a = leaf({1, 2, 3, 4, 5, 6});
  Tensor b = fn::transpose(fn::view(a, Dims{2, 3}), int64_t(0), int64_t(1)) * 1.0;
  multiply(fn::select(b, int64_t(0), int64_t(1)), 7);
  run_backward(b);
  EXPECT_EQ(numbers(grad_of(a)), (Numbers{1, 7, 1, 1, 7, 1}));
}

TEST(CopySlices, FillsABufferPieceByPiece) {
  Tensor a = leaf({2, 3}), buffer = tensor({0, 0, 0, 0});
  copy_into(part(buffer, 0, 2), a);
  copy_into(part(buffer, 2, 2), a * 10.0);
  EXPECT_EQ(numbers(buffer), (Numbers{2, 3, 20, 30}));
  run_backward(buffer);
  EXPECT_EQ(numbers(grad_of(a)), (Numbers{11, 11}));
}

TEST(AsStridedNode, GivesAnOlderViewTheNewHistory) {
  Tensor a = leaf({1, 2, 3}), b = a * 1.0, view = part(b, 0, 2);
  multiply(b, 4);
  EXPECT_EQ(grad_fn(view)->name(), "AsStridedBackward0");
  run_backward(view);
  EXPECT_EQ(numbers(grad_of(a)), (Numbers{4, 4, 0}));
}

TEST(ViewOfALeaf, CannotBeWritten) {
  Tensor a = leaf({1, 2});
  expect_error<Error>([&] { multiply(part(a, 0, 1), 2); }, "a view of a leaf Variable");
  EXPECT_EQ(numbers(a), (Numbers{1, 2}));
}

TEST(AccumulateGrad, IsOnePerLeafWhileAGraphHoldsIt) {
  Tensor a = leaf({1}), y = a * 2.0, z = a * 3.0;
  EXPECT_EQ(grad_fn(y)->next[0].node, grad_fn(z)->next[0].node);
}

TEST(AccumulateGrad, OwnsItsMemory) {
  Tensor a = leaf({1, 2}), b = leaf({3, 4});
  run_backward(a + b);  // both gradients are the same tensor inside
  GradMode off(false);
  multiply(grad_of(a), 5);
  EXPECT_EQ(numbers(grad_of(b)), (Numbers{1, 1}));
}

}  // namespace weir
