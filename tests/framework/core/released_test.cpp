#include "framework/core/released.h"

#include <algorithm>

#include "tests/framework/tensors.h"

namespace weir {
using test::expect_error;

TEST(Released, TensorsOverItReadZerosAndNobodyElsesMemory) {
  for (size_t bytes : {size_t(16), size_t(100000)}) {
    StorageRef s = new_storage(bytes);
    std::fill_n(s->data, bytes, std::byte(7));
    shrink(*s, 0);
    EXPECT_EQ(s->bytes, 0u);
    StorageRef other = new_storage(bytes);
    std::fill_n(other->data, bytes, std::byte(9));
    EXPECT_EQ(s->data[bytes - 1], std::byte(0)) << bytes;
  }
}

TEST(Released, KeepsWhatIsLeft) {
  StorageRef s = new_storage(100000);
  std::fill_n(s->data, s->bytes, std::byte(7));
  shrink(*s, 50000);
  shrink(*s, 5000);
  grow(*s, 90000);
  EXPECT_EQ(s->bytes, 90000u);
  EXPECT_EQ(s->data[4999], std::byte(7));
  grow(*s, 200000);
  EXPECT_EQ(s->data[4999], std::byte(7));
  s->data[199999] = std::byte(1);
  EXPECT_TRUE(resizable(*s));
}

TEST(Released, MemoryThatOthersLookAtKeepsItsAddress) {
  StorageRef s = new_storage(64);
  shrink(*s, 0);
  grow(*s, 64);
  keep_in_place(*s);
  EXPECT_FALSE(resizable(*s));
  expect_error<Error>([&] { shrink(*s, 0); }, "not resizable");
  expect_error<Error>([&] { grow(*s, 100); }, "not resizable");
  StorageRef fresh = new_storage(64);
  keep_in_place(*fresh);
  expect_error<Error>([&] { shrink(*fresh, 0); }, "not resizable");
}

}  // namespace weir
