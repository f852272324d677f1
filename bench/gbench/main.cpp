// Op benchmarks without Python: the cases of `weir-bench export` as Google Benchmark benchmarks.
//
//   weir_gbench cases.json [--benchmark_filter=overhead] [--benchmark_out=run.json ...]
//
// A case that is not one plain forward call of an op is named on stderr and left out; so is one whose call raises.
#include <benchmark/benchmark.h>
#include <omp.h>

#include <fstream>
#include <iostream>
#include <memory>

#include "bench/gbench/bind.h"
#include "bench/gbench/data.h"
#include "framework/kernels/load.h"

namespace weir::gbench {
namespace {

void run(const Call& c) {
  if (c.type->signature->returns == "list[Tensor]") {
    benchmark::DoNotOptimize(call_list(*c.type, c.op.data(), c.inputs));
    return;
  }
  Tensor out[kMaxOutputs];
  if (c.inplace) out[0] = c.inputs[0];
  call(*c.type, c.op.data(), c.inputs, out);
  benchmark::DoNotOptimize(out);
}

void time_case(benchmark::State& state, const Json& c) {
  omp_set_num_threads(c["threads"].get<int>());
  Call prepared = bind_case(c, make_inputs(c));
  for (auto _ : state) run(prepared);
  if (int64_t bytes = c["bytes"]) state.SetBytesProcessed(bytes * int64_t(state.iterations()));
  if (double flops = c["flops"])
    state.counters["flops"] = benchmark::Counter(flops, benchmark::Counter::kIsIterationInvariantRate);
}

// Runs the case once: what raises here would only raise later, and slowly.
void try_case(const Json& c) {
  if (c["mode"] != "fwd") throw Inexpressible("mode " + c["mode"].get<std::string>());
  run(bind_case(c, make_inputs(c)));
}

std::string refusal(const Json& c) {
  try {
    try_case(c);
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
