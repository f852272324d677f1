#include "framework/core/generator.h"
#include "framework/core/error.h"

#include <gtest/gtest.h>

#include <vector>

namespace weir {

// The numbers are PyTorch 2.13.0's on the CPU: torch.rand, torch.randn.
TEST(Generator, DrawsPyTorchsUniforms) {
  Generator g(0);
  for (float want : {0.49625658988952637f, 0.7682217955589294f, 0.08847743272781372f}) EXPECT_EQ(g.uniform_float(), want);
  g.manual_seed(0);
  for (double want : {0.9700530018065531, 0.707819864399788}) EXPECT_EQ(g.uniform_double(), want);
}

TEST(Generator, TakesTheLowBitsOfALargeSeed) {
  Generator g((uint64_t(1) << 40) + 5);
  for (float want : {0.8302518725395203f, 0.12611091136932373f}) EXPECT_EQ(g.uniform_float(), want);
  EXPECT_EQ(g.initial_seed(), (uint64_t(1) << 40) + 5);
}

TEST(Generator, DrawsPyTorchsNormals) {
  Generator g(0);
  for (double want : {1.5409961082440433, -0.2934289057609464, -2.1787893820745574}) EXPECT_DOUBLE_EQ(g.normal(), want);
}

TEST(Generator, DrawsTheSameNumbersOneByOneAndTogether) {
  Generator one(7), many(7);
  for (int64_t n : {1, 3, 620, 1, 624, 0, 2000, 5}) {
    std::vector<uint32_t> together(n);
    many.random(together.data(), n);
    for (uint32_t x : together) ASSERT_EQ(x, one.random());
    EXPECT_EQ(many.state.left, one.state.left);
    EXPECT_EQ(many.state.next, one.state.next);
  }
}

TEST(Generator, SeedingDropsTheSpareNormal) {
  Generator g(0);
  double first = g.normal();
  g.manual_seed(0);
  EXPECT_EQ(g.normal(), first);
}

TEST(Generator, AStateCanBeKeptAndRestored) {
  Generator g(3);
  g.normal();  // leaves a spare one
  std::vector<std::byte> state(Generator::kStateBytes);
  g.save(state.data());
  double a = g.normal(), b = g.uniform_double();
  Generator other(4);
  other.load(state.data(), state.size());
  EXPECT_EQ(other.initial_seed(), 3u);
  EXPECT_EQ(other.normal(), a);
  EXPECT_EQ(other.uniform_double(), b);
}

TEST(Generator, BytesThatAreNoStateChangeNothing) {
  Generator g(3), same(3);
  std::vector<std::byte> state(Generator::kStateBytes);
  EXPECT_THROW(g.load(state.data(), state.size()), Error);      // no words were ever seeded
  EXPECT_THROW(g.load(state.data(), state.size() - 1), Error);  // too short
  same.save(state.data());
  state[16] = std::byte{0xff}, state[17] = std::byte{0xff};     // the next word lies far beyond the last
  EXPECT_THROW(g.load(state.data(), state.size()), Error);
  EXPECT_EQ(g.uniform_double(), same.uniform_double());
}

}  // namespace weir
