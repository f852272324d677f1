#include "framework/op/out.h"

#include "framework/ops/index.h"
#include "tests/framework/tensors.h"

namespace weir {
using test::expect_error;
using test::Numbers;
using test::numbers;
using test::tensor;

namespace {

void gather_out(const Tensor& x, const Tensor& index, Tensor out) {
  Gather op = make_op<Gather>(int64_t(0));
  call(op_type<Gather>(), &op, std::array{x, index}, &out);
}

}  // namespace

TEST(Overlap, IsFullOverTheSameElements) {
  Tensor t = tensor({1, 2, 3, 4});
  EXPECT_EQ(overlap(t, t), Overlap::full);
  EXPECT_EQ(overlap(t, alias(t, {4}, {1}, 0)), Overlap::full);
}

TEST(Overlap, IsPartialOverSharedElements) {
  Tensor t = tensor({1, 2, 3, 4});
  EXPECT_EQ(overlap(alias(t, {3}, {1}, 0), alias(t, {3}, {1}, 1)), Overlap::partial);
  EXPECT_EQ(overlap(alias(t, {2, 2}, {2, 1}, 0), alias(t, {2, 2}, {1, 2}, 0)), Overlap::partial);
}

TEST(Overlap, IsNoneBesideEachOtherAndBetweenStorages) {
  Tensor t = tensor({1, 2, 3, 4});
  EXPECT_EQ(overlap(alias(t, {2}, {1}, 0), alias(t, {2}, {1}, 2)), Overlap::none);
  EXPECT_EQ(overlap(t, tensor({1, 2})), Overlap::none);
}

TEST(Overlap, IsUnknownWithHoles) {
  Tensor t = tensor({1, 2, 3, 4});
  EXPECT_EQ(overlap(alias(t, {2}, {2}, 0), alias(t, {2}, {2}, 1)), Overlap::unknown);
}

TEST(CheckOut, RefusesRepeatedElements) {
  Tensor one = tensor({7});
  expect_error<Error>([&] { gather_out(tensor({1, 2}), tensor({0, 1}, DType::int64), alias(one, {2}, {0}, 0)); },
                      "more than one element of the written-to tensor");
  EXPECT_EQ(numbers(one), (Numbers{7}));
}

TEST(CheckOut, RefusesAnInputsMemoryInIndexingOps) {
  Tensor x = tensor({1, 2});
  expect_error<Error>([&] { gather_out(x, tensor({1, 0}, DType::int64), alias(x, {2}, {1}, 0)); },
                      "some elements of the input tensor");
  EXPECT_EQ(numbers(x), (Numbers{1, 2}));
}

TEST(CheckOut, RefusesMemoryThatItWouldGrowInto) {
  Tensor index = tensor({0, 1, 0}, DType::int64), x = tensor({1, 2}, DType::int64);
  expect_error<Error>([&] { gather_out(x, alias(index, {2}, {1}, 1), alias(index, {1}, {1}, 0)); }, "some elements of the input");
}

TEST(CheckOut, RefusesAnotherDtypeInIndexingOps) {
  expect_error<Error>([&] { gather_out(tensor({1, 2}), tensor({1, 0}, DType::int64), empty({2}, DType::float64)); },
                      "gather: Expected out tensor to have dtype float32, but got float64");
}

}  // namespace weir
