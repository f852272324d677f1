// Also framework/graph/graph.cpp, framework/graph/spec.cpp and framework/graph/attributes.cpp.
#include "framework/graph/plan.h"

#include <gtest/gtest.h>

#include "framework/graph/spec.h"
#include "framework/graph/trace.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/create.h"

namespace weir::graph {
namespace {

Tensor ramp(int64_t n) {
  Tensor t = empty(Dims{n}, DType::float32);
  for (int64_t i = 0; i < n; i++) t.data<float>()[i] = float(i);
  return t;
}

Graph trace(Inputs args, Tensors (*function)(const Tensors&)) {
  Trace t;
  return t.finish(function(t.arguments(args)));
}

TEST(Place, BuffersThatLiveAtOnceAreApart) {
  std::vector<Interval> all;
  for (int i = 0; i < 200; i++) all.push_back({i * 7 % 50, i * 7 % 50 + i % 9, size_t(i * 37 % 1000 + 1), -1});
  size_t size = place(all);
  for (const Interval& a : all) {
    EXPECT_EQ(a.offset % 64, 0);
    EXPECT_LE(size_t(a.offset) + a.bytes, size);
    for (const Interval& b : all) {
      if (&a == &b || a.last < b.first || b.last < a.first) continue;
      EXPECT_TRUE(a.offset + int64_t(a.bytes) <= b.offset || b.offset + int64_t(b.bytes) <= a.offset);
    }
  }
}

TEST(Plan, RunsWithOtherValues) {
  Tensor x = ramp(5);
  Plan plan(trace(std::array{x}, [](const Tensors& in) -> Tensors { return {fn::add(fn::mul(in[0], 2.0), 1.0)}; }));
  EXPECT_EQ(plan.run(std::array{x})[0].data<float>()[3], 7);
  Tensor y = ramp(10);
  EXPECT_EQ(plan.run(std::array{alias(y, Dims{5}, Dims{1}, 5)})[0].data<float>()[4], 19);
}

TEST(Plan, ReusesTheMemoryOfWhatIsDead) {
  Tensor x = ramp(1000);
  Plan plan(trace(std::array{x}, [](const Tensors& in) -> Tensors {
    Tensor t = in[0];
    for (int i = 0; i < 20; i++) t = fn::mul(t, 2.0);
    return {t};
  }));
  EXPECT_LE(plan.arena_bytes(), 2 * 4096u);
}

TEST(Spec, RefusesWhatIsNotLegal) {
  Tensor x = ramp(5);
  Graph g = trace(std::array{x}, [](const Tensors& in) -> Tensors {
    Tensor y = fn::mul(in[0], 2.0);
    fn::add.inplace(y, 1.0);
    return {y};
  });
  check_legal(g);
  Graph swapped = g;
  std::swap(swapped.nodes[0], swapped.nodes[1]);
  EXPECT_THROW(check_legal(swapped), Error);
  Graph beyond = g;
  beyond.nodes[0].in[0].meta.offset = 1;
  EXPECT_THROW(check_legal(beyond), Error);
  Graph stale = g;
  stale.results[0].value = stale.nodes[0].out[0].value;
  EXPECT_THROW(check_legal(stale), Error);
}

TEST(Attributes, StandInTheText) {
  Tensor x = ramp(6);
  Graph g = trace(std::array{alias(x, Dims{2, 3}, Dims{3, 1}, 0)}, [](const Tensors& in) -> Tensors { return {fn::triu(in[0], -1)}; });
  EXPECT_NE(to_string(g).find("triu(%0: float32[2, 3]; diagonal=-1)"), std::string::npos) << to_string(g);
}

TEST(Trace, RefusesReadingAndEndsWithItsScope) {
  Tensor x = ramp(3);
  {
    Trace t;
    Tensor s = t.arguments(std::array{x})[0];
    EXPECT_THROW(item(fn::mul(s, 2.0)), Error);
    EXPECT_THROW(s.raw(), Error);
    EXPECT_THROW(x.raw(), Error);
    EXPECT_THROW(Trace(), Error);
  }
  EXPECT_EQ(x.data<float>()[2], 2);
  EXPECT_EQ(fn::mul(x, 2.0).data<float>()[2], 4);
}

}  // namespace
}  // namespace weir::graph
