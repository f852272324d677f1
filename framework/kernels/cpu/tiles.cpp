#include "framework/kernels/cpu/tiles.h"

#include <algorithm>
#include <vector>

#include "framework/core/parallel.h"
#include "framework/kernels/cpu/halves.h"

#if defined(__AVX512BW__) && defined(__linux__)
#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace weir {
namespace WEIR_ISA {
namespace {

constexpr int kRows = 16, kRowBytes = 64;             // of a tile
constexpr int64_t kTileNumbers = kTileStep / 2;
constexpr int64_t kCachedSteps = 8;                   // of a panel, which then takes a third of a first-level cache
constexpr int64_t kBlockPanels = 8;                   // of each factor, which then take a quarter of a second-level cache each
constexpr int64_t kPackNumbers = 1 << 15;             // below, one thread packs faster

// Names of registers are part of an instruction, and so of its text. The compiler itself never uses tiles.
template <int T> void load_tile(const void* p, int64_t stride) {
  asm volatile("tileloadd (%0,%1,1), %%tmm%c2" ::"r"(p), "r"(stride), "i"(T) : "memory");
}
template <int T> void store_tile(void* p, int64_t stride) {
  asm volatile("tilestored %%tmm%c2, (%0,%1,1)" ::"r"(p), "r"(stride), "i"(T) : "memory");
}
template <int T> void clear_tile() { asm volatile("tilezero %%tmm%c0" ::"i"(T)); }
template <int C, int A, int B> void multiply_tiles() {
  asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(C), "i"(A), "i"(B));
}

__mmask32 first(int64_t n) { return n >= 32 ? ~__mmask32(0) : (__mmask32(1) << std::max<int64_t>(n, 0)) - 1; }

// Numbers of two lines side by side.
__m512i paired(__m256i low, __m256i high) { return _mm512_or_si512(_mm512_cvtepu16_epi32(low), _mm512_slli_epi32(_mm512_cvtepu16_epi32(high), 16)); }

// A tile of pairs along the summed axis: by lines where these are dense along it, else by pairs.
void load_pairs(const Factor& x, int64_t line, int64_t depth, __m512i r[kRows]) {
  const BFloat16* from = x.data + line * x.line_stride + depth * x.depth_stride;
  if (x.depth_stride == 1) {
    const __mmask32 some = first(x.depth - depth);
    for (int i = 0; i < kRows; i++)
      r[i] = line + i < x.lines ? _mm512_maskz_loadu_epi16(some, from + i * x.line_stride) : _mm512_setzero_si512();
    return;
  }
  const __mmask16 some = __mmask16(first(std::min<int64_t>(x.lines - line, kRows)));
  auto load = [&](int64_t k) { return depth + k < x.depth ? _mm256_maskz_loadu_epi16(some, from + k * x.depth_stride) : _mm256_setzero_si256(); };
  for (int i = 0; i < kRows; i++)
    r[i] = paired(load(2 * i), load(2 * i + 1));
}

void transpose(__m512i r[kRows]) {
  __m512i t[kRows];
  for (int i = 0; i < kRows; i += 2) t[i] = _mm512_unpacklo_epi32(r[i], r[i + 1]), t[i + 1] = _mm512_unpackhi_epi32(r[i], r[i + 1]);
  for (int i = 0; i < kRows; i += 4)
    for (int j = 0; j < 2; j++) {
      r[i + 2 * j] = _mm512_unpacklo_epi64(t[i + j], t[i + 2 + j]);
      r[i + 2 * j + 1] = _mm512_unpackhi_epi64(t[i + j], t[i + 2 + j]);
    }
  for (int i = 0; i < kRows; i += 8)
    for (int j = 0; j < 4; j++) {
      t[i + j] = _mm512_shuffle_i32x4(r[i + j], r[i + 4 + j], 0x88);
      t[i + 4 + j] = _mm512_shuffle_i32x4(r[i + j], r[i + 4 + j], 0xdd);
    }
  for (int j = 0; j < 8; j++) {
    r[j] = _mm512_shuffle_i32x4(t[j], t[8 + j], 0x88);
    r[8 + j] = _mm512_shuffle_i32x4(t[j], t[8 + j], 0xdd);
  }
}

void pack(const Factor& x, bool by_lines, int64_t panel, int64_t first_step, int64_t steps, BFloat16* to) {
  __m512i r[kRows];
  for (int64_t s = first_step; s < first_step + steps; s++)
    for (int64_t half = 0; half < 2; half++, to += kTileNumbers) {
      load_pairs(x, panel * kTileLines + half * kRows, s * kTileDepth, r);
      if ((x.depth_stride == 1) != by_lines) transpose(r);
      for (int i = 0; i < kRows; i++) _mm512_store_si512(to + i * 2 * kRows, r[i]);
    }
}

// Two tiles side by side, whose rows lie `row_bytes` apart: the second `half` numbers behind the first, and those of the next step `step` numbers.
struct TilePair {
  const BFloat16* numbers;
  int64_t row_bytes = kRowBytes, half = kTileNumbers, step = kTileStep;
};
// Sums += products of `steps` steps.
[[gnu::always_inline]] inline void add_steps(TilePair left, TilePair right, int64_t steps) {
  for (int64_t s = 0; s < steps; s++, left.numbers += left.step, right.numbers += right.step) {
    load_tile<4>(left.numbers, left.row_bytes), load_tile<6>(right.numbers, right.row_bytes);
    multiply_tiles<0, 4, 6>();
    load_tile<7>(right.numbers + right.half, right.row_bytes);
    multiply_tiles<1, 4, 7>();
    load_tile<5>(left.numbers + left.half, left.row_bytes);
    multiply_tiles<2, 5, 6>(), multiply_tiles<3, 5, 7>();
  }
}

__m256i rounded(__m512 x) { return _mm512_cvtepi32_epi16((__m512i)narrowed(Vec<float>((Vec<float>::V)x))); }

// A factor of each product of a batch, packed whole.
using Pack = void (*)(const Factor&, int64_t, int64_t, int64_t, BFloat16*);
Panels packed(const Factor& x, int64_t batch, int64_t batch_stride, Pack pack) {
  const int64_t panels = tile_panels(x.lines), steps = tile_steps(x.depth);
  const Panels to(batch * panels, steps);
  parallel_for(batch * panels * steps, kPackNumbers / kTileStep, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end;) {  // steps of one panel at a time
      const int64_t panel = i / steps, step = i % steps, count = std::min(steps - step, end - i);
      Factor one = x;
      one.data += panel / panels * batch_stride;
      pack(one, panel % panels, step, count, to.at(panel, step));
      i += count;
    }
  });
  return to;
}

}  // namespace

bool has_tiles() {
  static const bool granted = [] {
    constexpr unsigned kBfloat16 = 1u << 22, kTiles = 1u << 24;
    constexpr long kAskPermission = 0x1023, kTileData = 18;  // Source: Linux, Documentation/arch/x86/xstate.rst
    unsigned a, b, c, d = 0;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(d & kBfloat16) || !(d & kTiles)) return false;
    return syscall(SYS_arch_prctl, kAskPermission, kTileData) == 0;
  }();
  return granted;
}

Tiles::Tiles() {
  struct alignas(64) { uint8_t palette = 1, start = 0, unused[14] = {}; uint16_t bytes[16] = {}; uint8_t rows[16] = {}; } shapes;
  std::fill_n(shapes.bytes, 8, kRowBytes), std::fill_n(shapes.rows, 8, kRows);
  asm volatile("ldtilecfg %0" ::"m"(shapes));
}
Tiles::~Tiles() { asm volatile("tilerelease"); }

void pack_left(const Factor& x, int64_t panel, int64_t first, int64_t steps, BFloat16* to) { pack(x, true, panel, first, steps, to); }
void pack_right(const Factor& x, int64_t panel, int64_t first, int64_t steps, BFloat16* to) { pack(x, false, panel, first, steps, to); }

void pack_left_row(const float* x, int64_t n, int64_t line, int64_t steps, BFloat16* panel) {
  BFloat16* to = panel + line / kRows * kTileNumbers + line % kRows * kTileDepth;
  auto part = [&](int64_t i) {
    const __mmask16 some = __mmask16(first(std::min<int64_t>(n - i, kRows)));
    return rounded(_mm512_maskz_loadu_ps(some, x + i));
  };
  for (int64_t i = 0; i < steps * kTileDepth; i += kTileDepth, to += kTileStep)
    _mm512_store_si512(to, _mm512_inserti64x4(_mm512_castsi256_si512(part(i)), part(i + kRows), 1));
}

void pack_left_step(const BFloat16* const* lines, int64_t first_number, int64_t count, int64_t ahead, BFloat16* to) {
  for (int i = 0; i < kTileDepth; i++) __builtin_prefetch(lines[i] + first_number + ahead);
  for (int64_t half = 0; half < kTileLines; half += kRows, to += kTileNumbers) {
    const __mmask16 some = __mmask16(first(std::min<int64_t>(count - half, kRows)));
    __m512i r[kRows];
    for (int i = 0; i < kRows; i++)
      r[i] = paired(_mm256_maskz_loadu_epi16(some, lines[2 * i] + first_number + half), _mm256_maskz_loadu_epi16(some, lines[2 * i + 1] + first_number + half));
    transpose(r);
    for (int i = 0; i < kRows; i++) _mm512_store_si512(to + i * 2 * kRows, r[i]);
  }
}
void pack_pairs(const BFloat16* const* lines, int64_t pairs, int64_t step, int64_t first_number, int64_t ahead, BFloat16* to) {
  auto load = [&](const BFloat16* p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); };
  for (int64_t k = 0; k < pairs; k++, lines += step, to += kPairNumbers) {
    for (int64_t i = 0; i < step; i++) __builtin_prefetch(lines[i] + first_number + ahead);
    for (int64_t half = 0; half < kTileLines; half += kRows)
      _mm512_store_si512(to + 2 * half, paired(load(lines[0] + first_number + half), load(lines[1] + first_number + half)));
  }
}

void begin_sums(const float* c, int64_t ld, bool add) {
  const int64_t row = ld * sizeof(float);
  if (!add) return clear_tile<0>(), clear_tile<1>(), clear_tile<2>(), clear_tile<3>();
  load_tile<0>(c, row), load_tile<1>(c + kRows, row), load_tile<2>(c + kRows * ld, row), load_tile<3>(c + kRows * ld + kRows, row);
}
void end_sums(float* c, int64_t ld) {
  const int64_t row = ld * sizeof(float);
  store_tile<0>(c, row), store_tile<1>(c + kRows, row), store_tile<2>(c + kRows * ld, row), store_tile<3>(c + kRows * ld + kRows, row);
}

void add_pairs(const BFloat16* left, const BFloat16* pairs, int64_t row, int64_t steps) {
  add_steps({left}, {pairs, row * int64_t(sizeof(BFloat16)), kPairNumbers / 2, kRows * row}, steps);
}
void multiply_panels(const BFloat16* left, const BFloat16* right, int64_t steps, float* c, int64_t ld, bool add) {
  begin_sums(c, ld, add);
  add_steps({left}, {right}, steps);
  end_sums(c, ld);
}

void multiply_lines(const BFloat16* lines, int64_t row, const BFloat16* right, int64_t steps, int64_t count, BFloat16* to, int64_t to_row) {
  alignas(64) float c[kTileStep];
  begin_sums(c, kTileLines, false);
  add_steps({lines, row * int64_t(sizeof(BFloat16)), kRows * row, kTileDepth}, {right}, steps);
  end_sums(c, kTileLines);
  for (int64_t r = 0; r < count; r++, to += to_row) narrow(Vec<float>::load(c + r * kTileLines), Vec<float>::load(c + r * kTileLines + kRows), to);
}

void round_to_bfloat16(const float* x, int64_t n, BFloat16* to) {
  for (int64_t i = 0; i < n; i += kRows) {
    const __mmask16 some = __mmask16(first(std::min<int64_t>(n - i, kRows)));
    _mm256_mask_storeu_epi16(to + i, some, rounded(_mm512_maskz_loadu_ps(some, x + i)));
  }
}

void tile_gemm(const Gemm& g, const BFloat16* a, const BFloat16* w, const BFloat16* bias, BFloat16* out) {
  // Rows that are dense along what is summed are tiles as they lie, but those of the last panel, of which some may be missing. Rows at the same place
  // of their pages would drive each other out of the first-level cache.
  constexpr int64_t kPage = 4096 / sizeof(BFloat16);
  const bool as_they_lie = g.a_strides[2] == 1 && g.m % kTileDepth == 0 && g.a_strides[1] % kPage != 0;
  const int64_t whole = as_they_lie ? g.n / kTileLines : 0, rest = g.n - whole * kTileLines;
  const Panels left = packed({a + whole * kTileLines * g.a_strides[1], rest, g.m, g.a_strides[1], g.a_strides[2]}, g.batch, g.a_strides[0], pack_left);
  auto left_tiles = [&](int64_t b, int64_t panel, int64_t step) -> TilePair {
    if (panel >= whole) return {left.at(b * tile_panels(rest) + panel - whole, step)};
    const int64_t row = g.a_strides[1];
    return {a + b * g.a_strides[0] + panel * kTileLines * row + step * kTileDepth, row * int64_t(sizeof(BFloat16)), kRows * row, kTileDepth};
  };
  const Panels right = packed({w, g.p, g.m, g.w_strides[2], g.w_strides[1]}, g.batch, g.w_strides[0], pack_right);
  const int64_t lefts = tile_panels(g.n), rights = tile_panels(g.p);  // panels of one product
  std::vector<float> shift(rights * kTileLines);
  for (int64_t j = 0; bias && j < g.p; j++) shift[j] = float(bias[j]);

  int64_t rows = std::min(kBlockPanels, lefts), columns = std::min(kBlockPanels, rights);  // panels of a block
  auto parts = [](int64_t n, int64_t by) { return (n + by - 1) / by; };
  auto blocks = [&] { return g.batch * parts(lefts, rows) * parts(rights, columns); };
  while (blocks() < 4 * omp_get_max_threads() && std::max(rows, columns) > 1) (rows >= columns ? rows : columns) = parts(std::max(rows, columns), 2);
  const int64_t down = parts(lefts, rows), across = parts(rights, columns);

  parallel_for(blocks(), 1, [&](int64_t begin, int64_t end) {
    Tiles tiles;
    const Tensor sums = empty(Dims{rows * columns * kTileStep}, DType::float32);
    auto finish = [&](const float* c, int64_t b, int64_t i, int64_t j) {
      const int64_t height = std::min(kTileLines, g.n - i * kTileLines), width = g.p - j * kTileLines;
      BFloat16* to = out + b * g.out_strides[0] + i * kTileLines * g.out_strides[1] + j * kTileLines;
      auto sum = [&](int64_t r, int64_t k) { return _mm512_add_ps(_mm512_load_ps(c + r * kTileLines + k), _mm512_loadu_ps(shift.data() + j * kTileLines + k)); };
      if (width >= kTileLines) {
        for (int64_t r = 0; r < height; r++) narrow(Vec<float>((Vec<float>::V)sum(r, 0)), Vec<float>((Vec<float>::V)sum(r, kRows)), to + r * g.out_strides[1]);
        return;
      }
      for (int64_t k = 0; k < width; k += kRows) {
        const __mmask16 some = __mmask16(first(std::min<int64_t>(width - k, kRows)));
        for (int64_t r = 0; r < height; r++) _mm256_mask_storeu_epi16(to + r * g.out_strides[1] + k, some, rounded(sum(r, k)));
      }
    };
    for (int64_t block = begin; block < end; block++) {
      const int64_t b = block / (down * across), i0 = block / across % down * rows, j0 = block % across * columns;
      for (int64_t step = 0; step < left.steps; step += kCachedSteps) {
        const int64_t steps = std::min(kCachedSteps, left.steps - step);
        float* c = sums.data<float>();
        for (int64_t i = i0; i < std::min(i0 + rows, lefts); i++)
          for (int64_t j = j0; j < std::min(j0 + columns, rights); j++, c += kTileStep) {
            begin_sums(c, kTileLines, step > 0);
            add_steps(left_tiles(b, i, step), {right.at(b * rights + j, step)}, steps);
            end_sums(c, kTileLines);
            if (step + steps == left.steps) finish(c, b, i, j);
          }
      }
    }
  });
}

}  // namespace WEIR_ISA
}  // namespace weir
#else
namespace weir {
namespace WEIR_ISA {

// Below AVX-512 there is nothing to call.
bool has_tiles() { return false; }
Tiles::Tiles() {}
Tiles::~Tiles() {}
void pack_left(const Factor&, int64_t, int64_t, int64_t, BFloat16*) {}
void pack_right(const Factor&, int64_t, int64_t, int64_t, BFloat16*) {}
void pack_left_row(const float*, int64_t, int64_t, int64_t, BFloat16*) {}
void pack_left_step(const BFloat16* const*, int64_t, int64_t, int64_t, BFloat16*) {}
void pack_pairs(const BFloat16* const*, int64_t, int64_t, int64_t, int64_t, BFloat16*) {}
void begin_sums(const float*, int64_t, bool) {}
void end_sums(float*, int64_t) {}
void add_pairs(const BFloat16*, const BFloat16*, int64_t, int64_t) {}
void multiply_panels(const BFloat16*, const BFloat16*, int64_t, float*, int64_t, bool) {}
void multiply_lines(const BFloat16*, int64_t, const BFloat16*, int64_t, int64_t, BFloat16*, int64_t) {}
void round_to_bfloat16(const float*, int64_t, BFloat16*) {}
void tile_gemm(const Gemm&, const BFloat16*, const BFloat16*, const BFloat16*, BFloat16*) {}

}  // namespace WEIR_ISA
}  // namespace weir
#endif
