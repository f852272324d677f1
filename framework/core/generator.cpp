#include "framework/core/generator.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "framework/core/error.h"

// ThreadSanitizer notes the calls of what chooses between clones, which runs before the library may call anything.
#ifdef __SANITIZE_THREAD__
#define WEIR_CLONES
#else
#define WEIR_CLONES [[gnu::target_clones("avx2", "default")]]
#endif

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

// Integers only, so the machine does not show: 1.05 ns a word with SSE2, 0.38 with AVX2.
WEIR_CLONES void Generator::refill() {
  auto twist = [](uint32_t u, uint32_t v) {
    return (((u & 0x80000000u) | (v & 0x7fffffffu)) >> 1) ^ (-(v & 1) & 0x9908b0dfu);
  };
  // In three pieces, each of which reads nothing that the same few steps write.
  uint32_t* p = state.words;
#pragma GCC ivdep
  for (int i = 0; i < 227; i++) p[i] = p[i + 397] ^ twist(p[i], p[i + 1]);
#pragma GCC ivdep
  for (int i = 227; i < 623; i++) p[i] = p[i - 227] ^ twist(p[i], p[i + 1]);
  p[623] = p[396] ^ twist(p[623], p[0]);
  state.left = 624;
  state.next = 0;
}

WEIR_CLONES void Generator::random(uint32_t* out, int64_t n) {
  while (n > 0) {
    if (state.left == 1) {
      refill();
      state.left++;  // none is taken yet
    }
    int count = int(std::min<int64_t>(n, state.left - 1));
    const uint32_t* from = state.words + state.next;
    for (int i = 0; i < count; i++) out[i] = tempered(from[i]);
    state.next += count;
    state.left -= count;
    out += count;
    n -= count;
  }
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

namespace {

// What CPUGeneratorImpl of PyTorch keeps, of which its older formats were a part.
struct Legacy {
  uint64_t seed;
  int32_t left, seeded;
  uint64_t next, words[624];
  double normal_x, normal_y, normal_rho;
  int32_t has_normal;
};
struct Saved {
  Legacy legacy;
  float next_float;
  bool has_float;
};
static_assert(sizeof(Saved) == Generator::kStateBytes);

}  // namespace

void Generator::save(std::byte* to) const {
  Saved s;
  std::memset(static_cast<void*>(&s), 0, sizeof s);
  s.legacy.seed = seed_, s.legacy.left = state.left, s.legacy.seeded = 1, s.legacy.next = uint64_t(state.next);
  std::copy(std::begin(state.words), std::end(state.words), s.legacy.words);
  s.legacy.normal_y = state.spare.value_or(0), s.legacy.has_normal = state.spare.has_value();
  std::memcpy(to, &s, sizeof s);
}

void Generator::load(const std::byte* from, size_t size) {
  check(size == kStateBytes, "set_state: expected a generator's state of ", kStateBytes, " bytes, got ", size);
  Legacy s;
  std::memcpy(&s, from, sizeof s);
  check(s.seeded == 1 && s.left > 0 && s.left <= 624 && s.next <= 624 && s.next + uint64_t(s.left) <= 625, "set_state: not a valid state of mt19937");
  seed_ = s.seed;
  for (int i = 0; i < 624; i++) state.words[i] = uint32_t(s.words[i]);
  state.left = s.left, state.next = int(s.next);
  state.spare = s.has_normal ? std::optional(s.normal_y) : std::nullopt;
}

Generator& default_generator() {
  static Generator g;
  return g;
}

}  // namespace weir
