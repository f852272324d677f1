#include "framework/core/generator.h"

#include <cmath>

namespace weir {

// Matsumoto and Nishimura 1998, mt19937.
void Generator::manual_seed(uint64_t seed) {
  seed_ = seed;
  state = State{};
  state.words[0] = uint32_t(seed);
  for (uint32_t i = 1; i < 624; i++) {
    uint32_t prev = state.words[i - 1];
    state.words[i] = 1812433253u * (prev ^ prev >> 30) + i;
  }
}

void Generator::refill() {
  auto twist = [](uint32_t u, uint32_t v) {
    return (((u & 0x80000000u) | (v & 0x7fffffffu)) >> 1) ^ (v & 1 ? 0x9908b0dfu : 0u);
  };
  uint32_t* p = state.words;
  for (int i = 0; i < 624; i++) p[i] = p[(i + 397) % 624] ^ twist(p[i], p[(i + 1) % 624]);
  state.left = 624;
  state.next = 0;
}

uint32_t Generator::random() {
  if (--state.left == 0) refill();
  uint32_t y = state.words[state.next++];
  y ^= y >> 11;
  y ^= (y << 7) & 0x9d2c5680u;
  y ^= (y << 15) & 0xefc60000u;
  return y ^ y >> 18;
}

double Generator::normal() {
  if (state.spare) {
    double v = *state.spare;
    state.spare.reset();
    return v;
  }
  double u1 = uniform_double(), u2 = uniform_double();
  double r = std::sqrt(-2.0 * std::log1p(-u2)), theta = 2.0 * M_PI * u1;
  state.spare = r * std::sin(theta);
  return r * std::cos(theta);
}

Generator& default_generator() {
  static Generator g;
  return g;
}

}  // namespace weir
