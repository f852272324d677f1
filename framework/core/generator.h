// Generator: the random state behind rand, randn, dropout. mt19937 with PyTorch's draws, so that a seed gives
// the same rand(), randint(), randperm() and (to rounding) randn() as PyTorch on the CPU.
#pragma once
#include <cstdint>
#include <mutex>
#include <optional>

namespace weir {

class Generator {
 public:
  explicit Generator(uint64_t seed = kDefaultSeed) { manual_seed(seed); }
  void manual_seed(uint64_t seed);
  uint64_t initial_seed() const { return seed_; }

  uint32_t random();
  uint64_t random64() { uint64_t hi = random(); return hi << 32 | random(); }
  float uniform_float() { return float(random() & ((1u << 24) - 1)) * 0x1p-24f; }
  double uniform_double() { return double(random64() & ((1ull << 53) - 1)) * 0x1p-53; }
  /// Box-Muller in double; every second value is kept for the next call, as PyTorch does.
  double normal();

  static constexpr uint64_t kDefaultSeed = 67280421310721;
  std::mutex mutex;

  // The whole state, for get_rng_state/set_rng_state.
  struct State {
    uint32_t words[624];
    int left = 1, next = 0;
    std::optional<double> spare;
  };
  State state;

 private:
  void refill();
  uint64_t seed_ = 0;
};

Generator& default_generator();

}  // namespace weir
