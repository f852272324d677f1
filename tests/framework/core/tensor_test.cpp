#include "framework/core/tensor.h"

#include "tests/framework/tensors.h"

namespace weir {
using test::expect_error;
using test::tensor;

TEST(Empty, IsRowMajor) {
  Tensor t = empty({2, 3, 4}, DType::float32);
  EXPECT_EQ(t.strides(), (Dims{12, 4, 1}));
  EXPECT_EQ(t.numel(), 24);
  EXPECT_EQ(t->storage->bytes, 96u);
  EXPECT_TRUE(t.is_contiguous());
}

TEST(Empty, SpansWhatItsStridesReach) {
  Tensor t = empty(Meta({3, 4}, {1, 5}, DType::float32, Device{}));
  EXPECT_EQ(t->storage->bytes, (2 * 1 + 3 * 5 + 1) * sizeof(float));
  EXPECT_FALSE(t.is_contiguous());
}

TEST(Empty, ExpandedAxesTakeNoMemory) {
  EXPECT_EQ(empty(Meta({1000, 4}, {0, 1}, DType::float32, Device{}))->storage->bytes, 16u);
}

TEST(Empty, RefusesImpossibleSizes) {
  expect_error<Error>([] { empty({2, -1}, DType::float32); }, "negative dimension -1");
  expect_error<Error>([] { empty({int64_t(1) << 40, int64_t(1) << 40}, DType::float32); }, "overflowed");
}

TEST(Empty, NothingTimesAnythingIsNothing) {
  EXPECT_EQ(empty({int64_t(1) << 40, int64_t(1) << 40, 0}, DType::float32).numel(), 0);
}

TEST(Alias, SharesMemoryAndVersion) {
  Tensor t = tensor({1, 2, 3, 4, 5, 6}), v = alias(t, {2}, {3}, 1);
  EXPECT_EQ(v.data<float>()[3], 5.0f);
  bump_version(v);
  EXPECT_EQ(t.version(), 1u);
  EXPECT_FALSE(v.is_view());  // op/call.cpp decides what is a view
}

TEST(Contiguous, AxesOfOneElementDoNotCount) {
  Tensor t = tensor({1, 2, 3, 4, 5, 6});
  EXPECT_TRUE(alias(t, {1, 6}, {77, 1}, 0).is_contiguous());
  EXPECT_TRUE(alias(t, {3, 0}, {5, 9}, 0).is_contiguous());
  EXPECT_FALSE(alias(t, {3}, {2}, 0).is_contiguous());
  EXPECT_FALSE(alias(t, {3}, {0}, 0).is_contiguous());
}

TEST(SetGeometry, RecomputesWhatFollowsFromIt) {
  Tensor t = tensor({1, 2, 3, 4, 5, 6});
  set_geometry(t, {3, 2}, {1, 3}, 0);
  EXPECT_EQ(t.numel(), 6);
  EXPECT_FALSE(t.is_contiguous());
  EXPECT_EQ(test::numbers(t), (test::Numbers{1, 4, 2, 5, 3, 6}));
}

TEST(Version, DataAndItsViewsCountOnTheirOwn) {
  Tensor t = tensor({1});
  Tensor data = alias(t, t.sizes(), t.strides(), 0);
  data->own_writes = Ref(new WriteCount);
  bump_version(data);
  const Tensor view = alias(data, data.sizes(), data.strides(), 0);
  bump_version(view);
  EXPECT_EQ(t.version(), 0u);
  EXPECT_EQ(data.version(), 2u);
  EXPECT_EQ(view.version(), 2u);
}

TEST(WrappedNumber, KeepsItsKind) {
  EXPECT_EQ(wrapped_number(Scalar(true)).dtype(), DType::boolean);
  EXPECT_EQ(wrapped_number(Scalar(3)).dtype(), DType::int64);
  Tensor t = wrapped_number(Scalar(0.1));
  EXPECT_EQ(t.dtype(), DType::float64);
  EXPECT_EQ(t.ndim(), 0);
  EXPECT_TRUE(t.has_flag(kWrappedNumber));
  EXPECT_EQ(item(t).to_double(), 0.1);
}

TEST(Item, NeedsOneElementThatExists) {
  EXPECT_EQ(item(tensor({5}, DType::int32)).to_int(), 5);
  expect_error<Error>([] { item(tensor({1, 2})); }, "2 elements");
  expect_error<Error>([] { item(empty({1}, DType::float32, {DeviceType::meta})); }, "meta");
}

TEST(Extent, FollowsTheSignOfStrides) {
  Extent e = extent({3, 4}, {-2, 5});
  EXPECT_EQ(e.low, -4);
  EXPECT_EQ(e.high, 15);
  EXPECT_EQ(extent({3, 0}, {2, 5}).high, 0);
}

TEST(ChannelsLast, PutsChannelsInnermost) {
  EXPECT_EQ(channels_last_strides({2, 3, 4, 5}), (Dims{60, 1, 15, 3}));
  EXPECT_EQ(channels_last_strides({2, 3, 4, 5, 6}), (Dims{360, 1, 90, 18, 3}));
  EXPECT_TRUE(is_channels_last({2, 3, 4, 5}, {60, 1, 15, 3}));
  EXPECT_FALSE(is_channels_last({2, 3, 4, 5}, {60, 20, 5, 1}));
  EXPECT_FALSE(is_channels_last({3, 4, 5}, {1, 15, 3}));
}

TEST(Dense, AnyOrderOfAxesWithoutHolesOrOverlap) {
  EXPECT_TRUE(is_non_overlapping_and_dense({2, 3}, {1, 2}));
  EXPECT_TRUE(is_non_overlapping_and_dense({2, 1, 3}, {3, 99, 1}));
  EXPECT_FALSE(is_non_overlapping_and_dense({2, 3}, {4, 1}));
  EXPECT_FALSE(is_non_overlapping_and_dense({2, 3}, {0, 1}));
}

}  // namespace weir
