// Op benchmarks without Python: the cases of `weir-bench export` as Google Benchmark benchmarks.
//
//   weir_gbench cases.json [--benchmark_filter=overhead] [--benchmark_out=run.json ...]
//
// Forward calls, gradients of a recorded call, and both together. A case that is more than one call of an op (an optimizer's step, a program)
// is named on stderr and left out; so is one whose call raises.
#include <benchmark/benchmark.h>
#include <omp.h>

#include <fstream>
#include <functional>
#include <iostream>
#include <span>

#include "bench/gbench/bind.h"
#include "bench/gbench/data.h"
#include "framework/autograd/engine.h"
#include "framework/kernels/load.h"
#include "framework/ops/reduce.h"

namespace weir::gbench {
namespace {

using Results = std::span<const Tensor>;

// f(the results of a call), which live as long.
template <class F> auto run(const Call& c, F&& f) {
  if (c.type->signature->returns == "list[Tensor]") {
    const Tensors results = call_list(*c.type, c.op.data(), c.inputs);
    return f(Results(results));
  }
  Tensor out[kMaxOutputs];
  if (c.inplace) out[0] = c.inputs[0];
  call(*c.type, c.op.data(), c.inputs, out);
  return f(Results(out));
}

// The first result that a gradient can come from.
Tensor differentiable(Results results) {
  for (const Tensor& t : results)
    if (t && t->flags & kRequiresGrad) return t;
  throw Inexpressible("no result requires grad");
}

// What one iteration runs, by the case's mode: what `bench/worker.py` times of it.
std::function<void()> prepare(const Json& c) {
  const std::string mode = c["mode"];
  if (mode != "fwd" && mode != "bwd" && mode != "fwd_bwd") throw Inexpressible("mode " + mode);
  if (c["op"].get<std::string>().starts_with("phrases.")) throw Inexpressible("several calls of Python's");
  const Tensors tensors = make_inputs(c);
  const Call call = bind_case(c, tensors);
  Tensors wanted;
  for (const Tensor& t : tensors)
    if (t->flags & kRequiresGrad) wanted.push_back(t);
  if (mode == "fwd") return [call] { run(call, [](Results r) { benchmark::DoNotOptimize(r.data()); }); };
  if (mode == "bwd") {  // the call is recorded once, so that only its gradient is timed
    const Tensor result = run(call, differentiable), cotangent = random_like(result);
    return [=] { benchmark::DoNotOptimize(backward({result}, {cotangent}, wanted, {.retain_graph = true, .accumulate = false})); };
  }
  return [=] { benchmark::DoNotOptimize(backward({fn::sum(run(call, differentiable))}, Tensors(1), Tensors(), {})); };
}

void time_case(benchmark::State& state, const Json& c) {
  omp_set_num_threads(c["threads"].get<int>());
  const std::function<void()> iteration = prepare(c);
  for (auto _ : state) iteration();
  if (int64_t bytes = c["bytes"]) state.SetBytesProcessed(bytes * int64_t(state.iterations()));
  if (double flops = c["flops"])
    state.counters["flops"] = benchmark::Counter(flops, benchmark::Counter::kIsIterationInvariantRate);
}

// Why a case cannot be run. It is run once: what raises here would only raise later, and slowly.
std::string refusal(const Json& c) {
  try {
    prepare(c)();
    return "";
  } catch (const std::exception& e) {
    return e.what();
  }
}

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (argc != 2) return std::cerr << "usage: weir_gbench CASES.json [--benchmark_...]\n", 1;
  std::ifstream file(argv[1]);
  if (!file) return std::cerr << "weir_gbench: cannot read " << argv[1] << "\n", 1;
  load_cpu_kernels();
  Json cases = Json::parse(file)["cases"];
  int left_out = 0;
  for (const Json& c : cases) {
    std::string name = c["name"];
    if (std::string why = refusal(c); !why.empty()) {
      std::cerr << "left out: " << name << ": " << why << "\n";
      left_out++;
    } else {
      benchmark::RegisterBenchmark(name.c_str(), [&c](benchmark::State& state) { time_case(state, c); });
    }
  }
  std::cerr << cases.size() - left_out << " of " << cases.size() << " cases, " << left_out << " left out\n";
  benchmark::AddCustomContext("weir_cpu_capability", std::string(load_cpu_kernels()));
  return benchmark::RunSpecifiedBenchmarks() == 0;
}

}  // namespace
}  // namespace weir::gbench

int main(int argc, char** argv) {
  try {
    return weir::gbench::main(argc, argv);
  } catch (const std::exception& e) {
    std::cerr << "weir_gbench: " << e.what() << "\n";
    return 1;
  }
}
