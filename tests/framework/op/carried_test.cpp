#include "framework/op/carried.h"

#include "framework/ops/arithmetic.h"
#include "framework/ops/create.h"
#include "framework/ops/index.h"
#include "tests/framework/tensors.h"

namespace weir {
using test::expect_error;
using test::Numbers;
using test::numbers;
using test::tensor;

Tensor stored(std::initializer_list<double> values, DType t) {
  Tensor x = empty(Dims{int64_t(values.size())}, t);
  copy_into(x, tensor(Numbers(values)));
  return x;
}

TEST(Carried, ComputesInAWiderTypeAndWrapsAround) {
  Tensor y = fn::mul(stored({3, 65535}, DType::uint16), stored({2, 2}, DType::uint16));
  EXPECT_EQ(y.dtype(), DType::uint16);
  EXPECT_EQ(numbers(cast_to(y, DType::int64)), (Numbers{6, 65534}));
}

TEST(Carried, MovesBytesAsTheyAre) {
  Tensor x = stored({1, 2, 3}, DType::float8_e4m3fn);
  x.data<uint8_t>()[1] = 0xff;  // a NaN whose sign casts would not keep
  Tensor y = fn::flip(x, Dims{0});
  EXPECT_EQ(y.data<uint8_t>()[1], 0xff);
  EXPECT_EQ(y.data<uint8_t>()[0], x.data<uint8_t>()[2]);
}

TEST(Carried, WritesInPlace) {
  Tensor x = stored({1, 2}, DType::complex32);
  fn::add.inplace(x, x);
  EXPECT_EQ(numbers(cast_to(x, DType::float32)), (Numbers{2, 4}));
}

TEST(Carried, RefusesWhatPyTorchHasNot) {
  Tensor x = stored({1, 2}, DType::uint16);
  expect_error<NotImplemented>([&] { fn::add(x, x); }, "\"add\" not implemented for 'uint16'");
  Tensor none = empty(Dims{0}, DType::uint16);
  expect_error<NotImplemented>([&] { fn::add(none, none); }, "\"add\" not implemented for 'uint16'");  // as PyTorch's element-wise loops
}

}  // namespace weir
