#include "framework/autograd/engine.h"

#include <thread>

#include "framework/ops/activation.h"
#include "framework/ops/arithmetic.h"
#include "framework/ops/functional.h"
#include "framework/ops/reduce.h"
#include "tests/framework/tensors.h"

namespace weir {
using test::expect_error;
using test::leaf;
using test::Numbers;
using test::numbers;
using test::tensor;

Tensor total(const Tensor& t) { return fn::sum(t); }
Tensors grads_of(const Tensor& root, const Tensors& inputs, BackwardOptions options = {}) {
  options.accumulate = false;
  return backward({root}, {}, inputs, options);
}
void run_backward(const Tensor& root, bool retain = false) { backward({root}, {}, {}, {.retain_graph = retain}); }

TEST(Backward, ReachesEveryLeaf) {
  Tensor a = leaf({2, 3}), b = leaf({5, 7});
  run_backward(total(a * b));
  EXPECT_EQ(numbers(grad_of(a)), (Numbers{5, 7}));
  EXPECT_EQ(numbers(grad_of(b)), (Numbers{2, 3}));
}

TEST(Backward, AddsUpWhatMeets) {
  Tensor a = leaf({2, 3});
  Tensor left = a * 2.0, right = a * a;
  run_backward(total(left * right));  // 2 a^3
  EXPECT_EQ(numbers(grad_of(a)), (Numbers{24, 54}));
}

TEST(Backward, AddsToTheGradientThatIsThere) {
  Tensor a = leaf({2});
  for (int i = 0; i < 3; i++) run_backward(total(a * 5.0));
  EXPECT_EQ(numbers(grad_of(a)), (Numbers{15}));
}

TEST(Backward, OfSeveralThreadsAddsToTheLeavesThatTheyShare) {
  constexpr int kThreads = 4, kPasses = 500;
  Tensor a = leaf({2, 3}), b = leaf({5, 7});
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; i++)
    threads.emplace_back([=] {
      for (int k = 0; k < kPasses; k++) run_backward(total((a * b) * 1.0 + a));
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(numbers(grad_of(a)), (Numbers{6.0 * kThreads * kPasses, 8.0 * kThreads * kPasses}));
  EXPECT_EQ(numbers(grad_of(b)), (Numbers{2.0 * kThreads * kPasses, 3.0 * kThreads * kPasses}));
}

TEST(Backward, ReducesOverBroadcastAxesAndCasts) {
  Tensor row = leaf({1, 2}), x = tensor({3, 2}, {1, 2, 3, 4, 5, 6}, DType::float64);
  run_backward(total(row * x));
  EXPECT_EQ(numbers(grad_of(row)), (Numbers{9, 12}));
  EXPECT_EQ(grad_of(row).dtype(), DType::float32);
}

TEST(Backward, FreesTheGraph) {
  Tensor a = leaf({2}), y = total(a * a);
  run_backward(y);
  expect_error<Error>([&] { run_backward(y); }, "backward through the graph a second time");
}

TEST(Backward, RetainsTheGraphOnDemand) {
  Tensor a = leaf({2}), y = total(a * a);
  run_backward(y, true);
  run_backward(y);
  EXPECT_EQ(numbers(grad_of(a)), (Numbers{8}));
}

TEST(Backward, CreatesAGraphForHigherOrders) {
  Tensor a = leaf({2}), y = total(a * a * a);
  Tensor first = grads_of(y, {a}, {.retain_graph = true, .create_graph = true})[0];
  EXPECT_EQ(numbers(first), (Numbers{12}));
  EXPECT_TRUE(requires_grad(first));
  Tensor second = grads_of(total(first), {a}, {.retain_graph = true, .create_graph = true})[0];
  EXPECT_EQ(numbers(second), (Numbers{12}));
  EXPECT_EQ(numbers(grads_of(total(second), {a})[0]), (Numbers{6}));
}

TEST(BackwardToInputs, LeavesGradAlone) {
  Tensor a = leaf({2}), b = leaf({5});
  Tensors g = grads_of(total(a * b), {b, a});
  EXPECT_EQ(numbers(g[0]), (Numbers{2}));
  EXPECT_EQ(numbers(g[1]), (Numbers{5}));
  EXPECT_FALSE(grad_of(a).defined());
}

TEST(BackwardToInputs, RunsOnlyTheNodesOnAPathToThem) {
  Tensor a = leaf({2}), b = leaf({5});
  Tensor side = b * 3.0;
  int seen = 0;
  add_hook(side, [&](const Tensor&) { return seen++, Tensor(); });
  Tensor unrelated = side * 2.0;
  Tensor y = total(a * a + unrelated);
  grads_of(y, {a}, {.retain_graph = true});
  EXPECT_EQ(seen, 0);
  grads_of(y, {b});
  EXPECT_EQ(seen, 1);
}

TEST(BackwardToInputs, StopsAtAnInnerTensor) {
  Tensor a = leaf({2}), inner = a * 3.0, y = total(inner * inner);
  EXPECT_EQ(numbers(grads_of(y, {inner})[0]), (Numbers{12}));
}

TEST(BackwardToInputs, GivesNothingForWhatIsUnused) {
  Tensor a = leaf({2}), unused = leaf({1});
  EXPECT_FALSE(grads_of(total(a * a), {unused})[0].defined());
}

TEST(BackwardErrors, NameTheRootsFault) {
  Tensor a = leaf({1, 2});
  expect_error<Error>([&] { run_backward(tensor({1})); }, "does not require grad");
  expect_error<Error>([&] { run_backward(a * 2.0); }, "only for scalar outputs");
  expect_error<Error>([&] { backward({a * 2.0}, {tensor({1, 2, 3})}, {}, {}); }, "grad_output has a shape of [3]");
  EXPECT_FALSE(grad_of(a).defined());
}

TEST(Backward, SurvivesAVeryLongChain) {
  Tensor a = leaf({1}), y = a;
  for (int i = 0; i < 100000; i++) y = y + a;
  run_backward(total(y));
  EXPECT_EQ(numbers(grad_of(a)), (Numbers{100001}));
}

TEST(Backward, MayRunInsideAHook) {
  Tensor a = leaf({2}), b = leaf({3}), inner = a * 1.0;
  add_hook(inner, [&](const Tensor&) {
    GradMode on(true);  // hooks run without it, as backward does
    run_backward(total(b * b));
    return Tensor();
  });
  run_backward(total(inner * inner));
  EXPECT_EQ(numbers(grad_of(a)), (Numbers{4}));
  EXPECT_EQ(numbers(grad_of(b)), (Numbers{6}));
}

}  // namespace weir
