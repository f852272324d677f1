#include "framework/core/blocks.h"

#include <cstdint>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace weir {
namespace {

constexpr size_t kSize = 192;

// More than share one room, so that some come from malloc; none overlap, and all are used again.
TEST(Blocks, AreApartAndComeAgain) {
  using Few = Blocks<kSize, 64 * kSize>;
  std::set<std::byte*> all;
  std::vector<void*> held;
  for (int i = 0; i < 400; i++) {
    auto* p = static_cast<std::byte*>(Few::take());
    EXPECT_EQ(reinterpret_cast<uintptr_t>(p) % 64, 0u);
    std::memset(p, i, kSize);
    const auto next = all.insert(p).first;
    EXPECT_TRUE(next == all.begin() || *std::prev(next) + kSize <= p);
    EXPECT_TRUE(std::next(next) == all.end() || p + kSize <= *std::next(next));
    held.push_back(p);
  }
  for (int i = 0; i < 400; i++) EXPECT_EQ(static_cast<unsigned char*>(held[i])[kSize - 1], static_cast<unsigned char>(i));
  for (void* p : held) Few::give(p);
  EXPECT_EQ(Few::take(), held[255]);  // the last that its thread kept
}

TEST(Blocks, OfAThreadThatEndsServeOthers) {
  using Own = Blocks<kSize, 16 * kSize>;
  std::set<void*> first, second;
  auto use = [](std::set<void*>& seen) {
    for (int i = 0; i < 16; i++) seen.insert(Own::take());
    for (void* p : seen) Own::give(p);
  };
  std::thread([&] { use(first); }).join();
  std::thread([&] { use(second); }).join();
  EXPECT_EQ(first.size(), 16u);
#ifndef __SANITIZE_ADDRESS__  // which has them from malloc
  EXPECT_EQ(first, second);
#endif
}

TEST(Blocks, GoBackFromOtherThreads) {
  using Given = Blocks<kSize, 16 * kSize>;
  std::vector<void*> held;
  for (int i = 0; i < 600; i++) held.push_back(Given::take());
  std::thread([&] {
    for (void* p : held) Given::give(p);
  }).join();
  std::set<void*> again;
  for (int i = 0; i < 600; i++) again.insert(Given::take());
  EXPECT_EQ(again.size(), 600u);
  for (void* p : again) Given::give(p);
}

}  // namespace
}  // namespace weir
