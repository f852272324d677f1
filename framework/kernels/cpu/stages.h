// Element-wise steps of floats whose numbers stay in registers.
//
// A stage takes a block of numbers, does its part and calls the stage behind it; as all of it is in arguments, that call is a jump. A step that goes
// through a tile in the first-level cache instead reads and writes each number, and takes three times as long. Skia's raster pipeline is built so.
#pragma once
#include "framework/kernels/cpu/halves.h"
#include "framework/kernels/cpu/past_caches.h"

namespace weir {
namespace WEIR_ISA {

constexpr int kBlockVectors = 4;
constexpr int64_t kBlock = kBlockVectors * Vec<float>::size;

struct Stage;
using FloatLanes = Vec<float>::V;
/// For the block that begins at element i: x is what has been computed, y another operand where a stage has loaded one.
using StageCall = void (*)(const Stage*, int64_t i, FloatLanes x0, FloatLanes x1, FloatLanes x2, FloatLanes x3, FloatLanes y0, FloatLanes y1,
                           FloatLanes y2, FloatLanes y3);

struct Stage {
  StageCall call;
  const void* op = nullptr;  // of a formula
  std::byte* at = nullptr;   // element 0 of what the stage loads or stores; a formula's number
};

/// The stage of a part, which is `static void run(const Stage&, int64_t i, Vec<float>* x, Vec<float>* y)` for kBlockVectors of each.
template <class Part>
void stage(const Stage* s, int64_t i, FloatLanes x0, FloatLanes x1, FloatLanes x2, FloatLanes x3, FloatLanes y0, FloatLanes y1, FloatLanes y2, FloatLanes y3) {
  Vec<float> x[kBlockVectors] = {x0, x1, x2, x3}, y[kBlockVectors] = {y0, y1, y2, y3};
  Part::run(*s, i, x, y);
  return s[1].call(s + 1, i, x[0].v, x[1].v, x[2].v, x[3].v, y[0].v, y[1].v, y[2].v, y[3].v);
}
inline void last_stage(const Stage*, int64_t, FloatLanes, FloatLanes, FloatLanes, FloatLanes, FloatLanes, FloatLanes, FloatLanes, FloatLanes) {}

/// Runs them, of which the last is last_stage, over as many whole blocks as n elements have; returns where the rest begins.
inline int64_t run_stages(const Stage* first, int64_t n) {
  const FloatLanes none{};
  int64_t i = 0;
  for (; i + kBlock <= n; i += kBlock) first->call(first, i, none, none, none, none, none, none, none, none);
  return i;
}

// What a formula of one or two arguments takes, in their order: x, a number that is the same for all elements, or y as well.
enum class Taken { x, x_number, number_x, x_x, x_y, y_x, count };
// A formula of three takes one of them, the `third`, from memory: floats, truths, or a number. Of the other two x comes first, or y where they are turned.
enum class Third { floats, truths, number, count };
constexpr int stage_of_three(int third, bool turned, Third kind) { return (third * 2 + turned) * int(Third::count) + int(kind); }
/// By what the formula takes: as many as a formula of three has.
using FormulaStages = StageCall[stage_of_three(3, false, Third::floats)];

/// Truths as ones and zeros: every byte but 0 is one, as a view of other numbers may have it.
inline Vec<float> widened(const bool* p) {
#if defined(__AVX512F__)
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  return Vec<float>((FloatLanes)_mm512_maskz_mov_ps(_mm_test_epi8_mask(bytes, bytes), _mm512_set1_ps(1)));
#else
  uint8_t bytes[Vec<float>::size];
  std::memcpy(bytes, p, sizeof bytes);
  Vec<float> x;
  for (int l = 0; l < Vec<float>::size; l++) x.v[l] = bytes[l] != 0;
  return x;
#endif
}

/// Back.
inline void narrow(Vec<float> x, bool* p) {
#ifdef __AVX512F__
  const __m128i bytes = _mm512_cvtepi32_epi8(_mm512_cvttps_epi32((__m512)x.v));
  std::memcpy(p, &bytes, sizeof bytes);
#else
  for (int l = 0; l < Vec<float>::size; l++) p[l] = x.v[l] != 0;
#endif
}

enum class Into { x, y };
/// `from_afar`: memory that is not in the caches is asked for before it is read.
template <class T, Into into, bool from_afar> struct Load {
  static void run(const Stage& s, int64_t i, Vec<float>* x, Vec<float>* y) {
    const T* from = reinterpret_cast<const T*>(s.at) + i;
    if constexpr (from_afar) fetch_behind(from, kBlock * sizeof(T));
    for (int v = 0; v < kBlockVectors; v++) {
      Vec<float>& to = into == Into::x ? x[v] : y[v];
      if constexpr (std::is_same_v<T, float>) to = Vec<float>::load(from + v * Vec<float>::size);
      else to = widened(from + v * Vec<float>::size);
    }
  }
};

template <class T> struct Store {
  static void run(const Stage& s, int64_t i, Vec<float>* x, Vec<float>*) {
    T* to = reinterpret_cast<T*>(s.at) + i;
    constexpr int w = Vec<float>::size;
    for (int v = 0; v < kBlockVectors; v += 2) {
      if constexpr (std::is_same_v<T, float>) x[v].store(to + v * w), x[v + 1].store(to + (v + 1) * w);
      else if constexpr (std::is_same_v<T, bool>) narrow(x[v], to + v * w), narrow(x[v + 1], to + (v + 1) * w);
      else narrow(x[v], x[v + 1], to + v * w);
    }
  }
};

/// Past the caches, into memory aligned for it.
struct Stream {
  static void run(const Stage& s, int64_t i, Vec<float>* x, Vec<float>*) {
    for (int v = 0; v < kBlockVectors; v++) stream(x[v], reinterpret_cast<float*>(s.at) + i + v * Vec<float>::size);
  }
};

/// To the numbers that T has.
template <class T> struct RoundTo {
  static void run(const Stage&, int64_t, Vec<float>* x, Vec<float>*) {
    for (int v = 0; v < kBlockVectors; v++) x[v] = rounded_to<T>(x[v]);
  }
};

}  // namespace WEIR_ISA
}  // namespace weir
