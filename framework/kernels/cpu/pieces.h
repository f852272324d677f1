// Odd functions that level off, in pieces: a polynomial for each quarter of an octave, whose coefficients one instruction picks out of a table
// in registers. Half the steps of a formula over exp, and no division. For AVX-512, which has that instruction for 32 numbers.
#pragma once
#ifdef __AVX512F__
#include <immintrin.h>

#include <bit>
#include <cmath>
#include <cstdint>

namespace weir {
namespace WEIR_ISA {

/// f for x >= 0, up to `end`, from where on it is 1 in single precision. Piece i holds numbers whose bits without the lowest 21 are kFirst + i; the
/// first one begins at 0. A piece is of f(x) - 1, below 1/2 of f(x) / x - 1, so that the last step, 1 + p or x + x p, rounds as a result of its
/// size should, and 1 - f(x) keeps what digits it has.
/// Within 1.5 ulp for tanh and erf.
class Pieces {
 public:
  template <class F> Pieces(F f, double slope, float end) : end_(end) {
    for (uint32_t i = 0; i < kPieces; i++) {
      const double from = i ? std::bit_cast<float>((kFirst + i) << kShift) : 0, to = std::bit_cast<float>((kFirst + i + 1) << kShift);
      center_[i] = float((from + to) / 2);
      interpolate(i, (to - from) / 2, [&](double x) { return (center_[i] > 0.5f ? f(x) : x == 0 ? slope : f(x) / x) - 1; });
    }
  }

  __m512 operator()(__m512 x) const {
    const __m512 u = _mm512_min_ps(_mm512_set1_ps(end_), _mm512_abs_ps(x));  // NaN stays NaN: it is the second operand
    const __m512i i = _mm512_max_epi32(_mm512_sub_epi32(_mm512_srli_epi32(_mm512_castps_si512(u), kShift), _mm512_set1_epi32(kFirst)), _mm512_setzero_si512());
    const __m512 r = _mm512_sub_ps(u, pick(center_, i));
    __m512 p = pick(terms_[kTerms - 1], i);
    for (int k = kTerms - 2; k >= 0; k--) p = _mm512_fmadd_ps(p, r, pick(terms_[k], i));
    const __m512 one = _mm512_set1_ps(1), sign = _mm512_set1_ps(-0.0f);
    const __m512 m = _mm512_mask_mov_ps(one, _mm512_cmp_ps_mask(u, _mm512_set1_ps(0.5f), _CMP_LT_OQ), u), y = _mm512_fmadd_ps(p, m, m);
    // Exactly 1 from `end` on: what is left of it in 1 - y is multiplied by large numbers elsewhere.
    const __m512 size = _mm512_mask_mov_ps(_mm512_min_ps(one, y), _mm512_cmp_ps_mask(u, _mm512_set1_ps(end_), _CMP_EQ_OQ), one);
    return _mm512_or_ps(size, _mm512_and_ps(x, sign));
  }

 private:
  static constexpr int kPieces = 32, kTerms = 6, kShift = 21;
  static constexpr uint32_t kFirst = std::bit_cast<uint32_t>(0.0625f) >> kShift;

  static __m512 pick(const float* table, __m512i i) { return _mm512_permutex2var_ps(_mm512_load_ps(table), i, _mm512_load_ps(table + 16)); }

  // Through the Chebyshev points of the piece: Newton's divided differences, expanded around its center.
  template <class G> void interpolate(uint32_t i, double half, G g) {
    double at[kTerms], d[kTerms], p[kTerms] = {};
    for (int k = 0; k < kTerms; k++) at[k] = half * std::cos(M_PI * (k + 0.5) / kTerms), d[k] = g(center_[i] + at[k]);
    for (int j = 1; j < kTerms; j++)
      for (int k = kTerms - 1; k >= j; k--) d[k] = (d[k] - d[k - 1]) / (at[k] - at[k - j]);
    for (int k = kTerms - 1; k >= 0; k--) {
      for (int j = kTerms - 1; j > 0; j--) p[j] = p[j - 1] - at[k] * p[j];
      p[0] = d[k] - at[k] * p[0];
    }
    for (int k = 0; k < kTerms; k++) terms_[k][i] = float(p[k]);
  }

  alignas(64) float terms_[kTerms][kPieces];
  alignas(64) float center_[kPieces];
  float end_;
};

inline const Pieces kTanhPieces([](double x) { return std::tanh(x); }, 1, 9.02f);
inline const Pieces kErfPieces([](double x) { return std::erf(x); }, 1.1283791670955126 /* 2 / sqrt(pi) */, 4);

}  // namespace WEIR_ISA
}  // namespace weir
#endif
