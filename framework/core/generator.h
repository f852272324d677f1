// Generator: the random state behind rand, randn, dropout. mt19937 with PyTorch's draws, so that a seed gives
// the same rand(), randint(), randperm() and (to rounding) randn() as PyTorch on the CPU.
#pragma once
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>

namespace weir {

class Generator {
 public:
  explicit Generator(uint64_t seed = kDefaultSeed) { manual_seed(seed); }
  void manual_seed(uint64_t seed);
  uint64_t initial_seed() const { return seed_; }

  uint32_t random() {
    if (--state.left == 0) refill();
    return tempered(state.words[state.next++]);
  }
  /// The next `n` numbers of `random`, several at a time.
  void random(uint32_t* out, int64_t n);
  uint64_t random64() { uint64_t hi = random(); return hi << 32 | random(); }
  float uniform_float() { return to_float(random()); }
  double uniform_double() { return to_double(random64()); }
  static float to_float(uint32_t x) { return float(int32_t(x & ((1u << 24) - 1))) * 0x1p-24f; }
  static double to_double(uint64_t x) { return double(int64_t(x & ((1ull << 53) - 1))) * 0x1p-53; }
  /// Box-Muller in double; every second value is kept for the next call, as PyTorch does.
  double normal();

  static constexpr uint64_t kDefaultSeed = 67280421310721;
  std::mutex mutex;

  /// The seed and the state as bytes, in the layout of PyTorch's CPU generator: each goes on where the other stood.
  static constexpr size_t kStateBytes = 5056;
  void save(std::byte* to) const;
  /// Raises for bytes that are no such state, and changes nothing then.
  void load(const std::byte* from, size_t size);

  struct State {
    uint32_t words[624];
    int left = 1, next = 0;
    std::optional<double> spare;
  };
  State state;

 private:
  static uint32_t tempered(uint32_t y) {
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    return y ^ y >> 18;
  }
  void refill();
  uint64_t seed_ = 0;
};

Generator& default_generator();

}  // namespace weir
