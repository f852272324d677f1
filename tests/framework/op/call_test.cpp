// The one door: results, in-place, out=, views, and errors before any work.
#include "framework/op/call.h"

#include "framework/ops/activation.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/index.h"
#include "framework/ops/reduce.h"
#include "framework/ops/view.h"
#include "tests/framework/tensors.h"

namespace weir {
using test::expect_error;
using test::Numbers;
using test::numbers;
using test::tensor;

// An op without any kernel, which no name finds: what an op is before a back end has it.
struct Unwritten : Op {
  static constexpr Signature signature = "unwritten(input: Tensor) -> Tensor";
  static constexpr auto doc = "Nothing.";
  Meta infer(Inputs in) const { return in[0].meta(); }
};
const Unlisted<Unwritten> unlisted;

void add_out(const Tensor& a, const Tensor& b, Tensor out) {
  Add op = make_op<Add>();
  call(op_type<Add>(), &op, std::array{a, b}, &out);
}
void add_into(const Tensor& a, const Tensor& b) { fn::add.inplace(a, b); }

TEST(Fn, TakesArgumentsInTheSignaturesOrder) {
  Tensor x = tensor({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(numbers(fn::gather(x, 1, tensor({2, 1}, {2, 0}, DType::int64))), (Numbers{3, 4}));
  EXPECT_EQ(numbers(fn::sum(x, Dims{0}, true)), (Numbers{5, 7, 9}));
  EXPECT_EQ(fn::sum(x, Dims{0}, true).sizes(), (Dims{1, 3}));
}

TEST(Fn, LeavesDefaultsAtTheEnd) {
  EXPECT_EQ(numbers(fn::add(tensor({1, 2}), tensor({1, 1}))), (Numbers{2, 3}));
  EXPECT_EQ(numbers(fn::add(tensor({1, 2}), tensor({1, 1}), 10)), (Numbers{11, 12}));
  EXPECT_EQ(numbers(fn::sum(tensor({1, 2}))), (Numbers{3}));
}

TEST(Fn, TakesNumbersWhereTheOpDoes) {
  EXPECT_EQ(numbers(fn::add(tensor({1, 2}), 0.5)), (Numbers{1.5, 2.5}));
  EXPECT_EQ(fn::add(tensor({1, 2}, DType::int64), 1).dtype(), DType::int64);  // weak in promotion
}

TEST(Fn, ChoosesTheOverloadThatTakesTheArguments) {
  Tensor x = tensor({5, 6, 7, 8}), at = tensor({0, 2}, DType::int64);
  EXPECT_EQ(numbers(fn::scatter(x, 0, at, Scalar(1))), (Numbers{1, 6, 1, 8}));
  EXPECT_EQ(numbers(fn::scatter(x, 0, at, tensor({3, 4}))), (Numbers{3, 6, 4, 8}));
  EXPECT_EQ(fn::split(x, 3).size(), 2u);
  EXPECT_EQ(fn::split(x, Dims{1, 1, 2}).size(), 3u);
}

TEST(Fn, WritesIntoItsFirstArgument) {
  Tensor x = tensor({1, 2});
  fn::mul.inplace(x, tensor({3, 3}));
  EXPECT_EQ(numbers(x), (Numbers{3, 6}));
  EXPECT_EQ(x.version(), 1u);
}

TEST(Call, AllocatesTheResult) {
  Tensor y = tensor({1, 2}) + tensor({10, 20});
  EXPECT_EQ(numbers(y), (Numbers{11, 22}));
  EXPECT_EQ(y.version(), 0u);
}

TEST(Call, ComputesShapesOfMetaTensorsOnly) {
  Tensor big = empty({1 << 20, 1 << 20}, DType::float32, {DeviceType::meta});
  Tensor y = big + big;
  EXPECT_EQ(y.sizes(), big.sizes());
  EXPECT_TRUE(y.is_meta());
}

TEST(Call, NamesOpAndDeviceWhereAKernelIsMissing) {
  Unwritten op;
  Tensor out[1];
  expect_error<NotImplemented>([&] { call(op_type<Unwritten>(), &op, std::array{tensor({1})}, out); },
                               "unwritten: not implemented for device cpu");
}

TEST(Call, MarksResultsOfInferenceMode) {
  Mode before = mode;
  mode.inference = true;
  Tensor y = tensor({1}) + tensor({2});
  mode = before;
  EXPECT_TRUE(y.has_flag(kInference));
}

TEST(Call, ReturnsSeveralResults) {
  auto [values, indices] = fn::max(tensor({2, 3}, {1, 5, 2, 9, 0, 4}), int64_t(1));
  EXPECT_EQ(numbers(values), (Numbers{5, 9}));
  EXPECT_EQ(numbers(indices), (Numbers{1, 0}));
}

TEST(Inplace, WritesAndRaisesTheVersionByOne) {
  Tensor a = tensor({1, 2}), same = a;
  add_into(a, tensor({10, 20}));
  EXPECT_EQ(numbers(same), (Numbers{11, 22}));
  EXPECT_EQ(a.version(), 1u);
}

TEST(Inplace, WritesThroughStrides) {
  Tensor base = tensor({2, 2}, {1, 2, 3, 4});
  add_into(fn::transpose(base, int64_t(0), int64_t(1)), tensor({2, 2}, {10, 20, 30, 40}));
  EXPECT_EQ(numbers(base), (Numbers{11, 32, 23, 44}));
}

TEST(Inplace, KeepsTheDtypeOfItsTensor) {
  Tensor a = tensor({1, 2}, DType::float16);
  add_into(a, tensor({0.5, 0.5}));
  EXPECT_EQ(a.dtype(), DType::float16);
  EXPECT_EQ(numbers(a), (Numbers{1.5, 2.5}));
}

TEST(Inplace, RefusesAnOperandThatSharesItsMemoryInPart) {
  Tensor a = tensor({2, 2}, {1, 2, 3, 4}), b = tensor({1, 2, 3, 4});
  expect_error<Error>([&] { add_into(a, fn::transpose(a, 0, 1)); }, "single memory location");
  expect_error<Error>([&] { add_into(alias(b, {3}, {1}, 1), alias(b, {3}, {1}, 0)); }, "single memory location");
  EXPECT_EQ(numbers(b), (Numbers{1, 2, 3, 4}));
}

TEST(Inplace, RefusesAGrowingShapeBeforeAnyWork) {
  Tensor a = tensor({1, 2});
  expect_error<Error>([&] { add_into(a, tensor({3, 2}, {1, 1, 1, 1, 1, 1})); }, "doesn't match the broadcast shape [3, 2]");
  EXPECT_EQ(numbers(a), (Numbers{1, 2}));
  EXPECT_EQ(a.version(), 0u);
}

TEST(Inplace, RefusesAFallingCategoryBeforeAnyWork) {
  Tensor a = tensor({1, 2}, DType::int32);
  expect_error<Error>([&] { add_into(a, tensor({0.5, 0.5})); }, "float32 can't be cast to the desired output type int32");
  EXPECT_EQ(numbers(a), (Numbers{1, 2}));
  EXPECT_EQ(a.version(), 0u);
}

TEST(Out, IsWrittenInPlaceWhenItFits) {
  Tensor out = tensor({0, 0});
  std::byte* memory = out.raw();
  add_out(tensor({1, 2}), tensor({10, 20}), out);
  EXPECT_EQ(numbers(out), (Numbers{11, 22}));
  EXPECT_EQ(out.raw(), memory);
  EXPECT_EQ(out.version(), 1u);
}

TEST(Out, IsResizedWhenEmpty) {
  Tensor out = empty({0}, DType::float32);
  add_out(tensor({1, 2}), tensor({10, 20}), out);
  EXPECT_EQ(numbers(out), (Numbers{11, 22}));
}

TEST(Out, IsCastTo) {
  Tensor out = empty({2}, DType::float64);
  add_out(tensor({1, 2}, DType::int64), tensor({10, 20}, DType::int64), out);
  EXPECT_EQ(numbers(out), (Numbers{11, 22}));
  EXPECT_EQ(out.dtype(), DType::float64);
}

TEST(Out, MayBeAnOperand) {
  Tensor a = tensor({1, 2, 3}), b = alias(a, {2}, {1}, 1);
  add_out(tensor({1, 2}), b, alias(a, {2}, {1}, 1));
  EXPECT_EQ(numbers(a), (Numbers{1, 3, 5}));
}

TEST(Out, RefusesMemoryThatAnOperandSharesInPart) {
  Tensor a = tensor({1, 2, 3});
  expect_error<Error>([&] { add_out(alias(a, {2}, {1}, 0), alias(a, {2}, {1}, 1), alias(a, {2}, {1}, 1)); },
                      "some elements of the input tensor");
  EXPECT_EQ(numbers(a), (Numbers{1, 2, 3}));
}

TEST(Out, RefusesAFallingCategoryBeforeAnyWork) {
  Tensor out = tensor({7, 7}, DType::int64);
  expect_error<Error>([&] { add_out(tensor({1, 2}), tensor({10, 20}), out); }, "add: result type float32");
  EXPECT_EQ(numbers(out), (Numbers{7, 7}));
}

TEST(View, SharesStorageAndNamesItsRoot) {
  Tensor a = tensor({2, 3}, {1, 2, 3, 4, 5, 6});
  Tensor v = fn::select(fn::transpose(a, int64_t(0), int64_t(1)), int64_t(0), int64_t(1));
  EXPECT_EQ(numbers(v), (Numbers{2, 5}));
  EXPECT_EQ(v->storage, a->storage);
  EXPECT_EQ(v->base, a.ref());
}

TEST(View, MadeWithoutGradIsNotWrittenToWithIt) {
  Tensor x = tensor({2}, {1, 2}), v, w = tensor({2}, {3, 4});
  {
    GradMode off(false);
    v = fn::view(x, Dims{2});
  }
  EXPECT_TRUE(v.is_view());
  add_into(v, w);  // nothing of it is recorded
  set_requires_grad(w, true);
  EXPECT_THROW(add_into(v, w), Error);
}

TEST(View, RefusesWhatStridesForbid) {
  Tensor t = fn::transpose(tensor({2, 2}, {1, 2, 3, 4}), int64_t(0), int64_t(1));
  EXPECT_THROW(fn::view(t, Dims{4}), Error);
}

TEST(Composite, RunsTheOpsItIsMadeOf) {
  Tensor y = fn::flatten(tensor({2, 2}, {1, 2, 3, 4}), int64_t(0), int64_t(-1));
  EXPECT_EQ(y.sizes(), Dims{4});
}

TEST(Errors, BroadcastNamesTheAxis) {
  expect_error<Error>([] { tensor({1, 2}) + tensor({1, 2, 3}); }, "add: The size of tensor a (2) must match the size of "
                      "tensor b (3) at non-singleton dimension 0");
}

TEST(Errors, AnOpForFloatsNamesTheDtypeItGot) {
  expect_error<NotImplemented>([] { fn::leaky_relu(tensor({1}, DType::int64)); },
                               "leaky_relu: not implemented for 'int64'");
}

}  // namespace weir
