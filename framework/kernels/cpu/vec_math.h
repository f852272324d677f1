// exp, exp2, expm1, log, log1p, tanh and erf of float lanes: polynomials on reduced arguments, within 1.5 ulp of the true value. libmvec's are off by
// up to 4. Also powers of negative bases and log-gamma, which it has not. Included by vec.h, which has the others.
//
// The steps are fused multiply-adds where the machine has them; without, the last bit of a result may differ.
#pragma once
#ifdef __SSE__
#include <immintrin.h>
#endif

#include "framework/kernels/cpu/pieces.h"

namespace weir {
namespace WEIR_ISA {
namespace lanes {

using F32 = Vec<float>;
using I32 = Vec<int32_t>;

// One intrinsic in the width of this build, for floats and for doubles.
#if defined(__AVX512F__)
#define WEIR_PS(name, ...) Vec<float>((Vec<float>::V)_mm512_##name##_ps(__VA_ARGS__))
#define WEIR_PD(name, ...) Vec<double>((Vec<double>::V)_mm512_##name##_pd(__VA_ARGS__))
using Register = __m512;
using WideRegister = __m512d;
#elif defined(__AVX2__)
#define WEIR_PS(name, ...) Vec<float>((Vec<float>::V)_mm256_##name##_ps(__VA_ARGS__))
#define WEIR_PD(name, ...) Vec<double>((Vec<double>::V)_mm256_##name##_pd(__VA_ARGS__))
using Register = __m256;
using WideRegister = __m256d;
#else
#define WEIR_PS(name, ...) Vec<float>((Vec<float>::V)_mm_##name##_ps(__VA_ARGS__))
using Register = __m128;
using WideRegister = __m128d;
#endif

/// a * b + c, rounded once where the machine can.
inline F32 fma(F32 a, F32 b, F32 c) {
#ifdef __FMA__
  return WEIR_PS(fmadd, (Register)a.v, (Register)b.v, (Register)c.v);
#else
  return a * b + c;
#endif
}
inline Vec<double> fma(Vec<double> a, Vec<double> b, Vec<double> c) {
#ifdef __FMA__
  return WEIR_PD(fmadd, (WideRegister)a.v, (WideRegister)b.v, (WideRegister)c.v);
#else
  return a * b + c;
#endif
}
/// NaN stays NaN: these instructions give their second operand where either is NaN.
inline F32 clamped(F32 x, float low, float high) {
  F32 y = WEIR_PS(max, (Register)F32(low).v, (Register)x.v);
  return WEIR_PS(min, (Register)F32(high).v, (Register)y.v);
}
inline I32 bits(F32 x) { return I32((I32::V)x.v); }
inline F32 of_bits(I32 x) { return F32((F32::V)x.v); }
// Sums of bits wrap around, which those of signed numbers may not.
typedef uint32_t U32V __attribute__((vector_size(sizeof(I32::V))));
inline I32 plus(I32 a, I32 b) { return I32((I32::V)((U32V)a.v + (U32V)b.v)); }
inline I32 minus(I32 a, I32 b) { return I32((I32::V)((U32V)a.v - (U32V)b.v)); }

/// c[0] x^(n-1) + ... + c[n-1], by Horner's scheme.
template <int n> F32 polynomial(F32 x, const float (&c)[n]) {
  F32 r(c[0]);
  for (int i = 1; i < n; i++) r = fma(r, x, F32(c[i]));
  return r;
}

/// 2^n p for whole n in [-252, 254].
inline F32 scaled(F32 p, F32 n) {
#ifdef __AVX512F__
  return WEIR_PS(scalef, (Register)p.v, (Register)n.v);
#else  // by two factors, since 2^n alone may not be representable
  I32 whole(__builtin_convertvector(n.v, I32::V)), half(whole.v >> 1);
  auto power = [](I32 e) { return of_bits(I32((e.v + 127) << 23)); };
  return p * power(half) * power(whole - half);
#endif
}

/// The nearest whole number, the even one of two.
inline I32 nearest(F32 x) {
#if defined(__AVX512F__)
  return I32((I32::V)_mm512_cvtps_epi32((Register)x.v));
#elif defined(__AVX2__)
  return I32((I32::V)_mm256_cvtps_epi32((Register)x.v));
#else
  return I32((I32::V)_mm_cvtps_epi32((Register)x.v));
#endif
}
/// 2^n p for p in [1/2, 2] and n from -151 on, where `tiny` lanes give less than a normal number. An instruction with such a result takes a hundred
/// times as long as any other: here they are made of whole numbers of the smallest.
inline F32 scaled_down(F32 p, F32 n, Mask<float> tiny) {
  const F32 small = of_bits(nearest(scaled(p, where(tiny, n, F32(-149)) + F32(149))));
  return where(tiny, small, scaled(p, where(tiny, F32(0), n)));
}

constexpr float kRounding = 12582912.0f;  // 1.5 * 2^23: adding it rounds to a whole number
/// (exp(r) - 1 - r) / r^2 of |r| <= ln(2) / 2. Coefficients: Cephes expf.
inline F32 exp_tail(F32 r) {
  return polynomial(r, {1.9875691500e-4f, 1.3981999507e-3f, 8.3334519073e-3f, 4.1665795894e-2f, 1.6666665459e-1f, 5.0000001201e-1f});
}
/// exp(r) - 1 of such r.
inline F32 expm1_small(F32 r) { return fma(exp_tail(r), r * r, r); }
/// exp(x) = 2^n exp(r) with |r| <= ln(2) / 2: gives exp(r) - 1, n, and n as the low bits of a number.
inline F32 expm1_reduced(F32 x, F32* n, I32* low) {
  const F32 y = fma(x, F32(1.44269504088896341f), F32(kRounding));
  *low = bits(y), *n = y - F32(kRounding);
  F32 r = fma(*n, F32(-0.693145751953125f), x);
  return expm1_small(fma(*n, F32(-1.42860682030941723e-6f), r));
}
inline F32 exp_reduced(F32 x, F32* n, I32* low) { return expm1_reduced(x, n, low) + F32(1); }
/// exp(x) = 2^n p for x in [-104, 89]: gives p, and n, of which a fraction counts for nothing. Where 32 numbers are looked up in one instruction, p is 2^(k / 32) times
/// 1 + q of the little that is left, and what the number looked up is rounded by is added: 1 argument in 200 is not rounded to the nearest number.
#ifdef __AVX512F__
alignas(64) inline constexpr float kPowers[32] = {  // of 2^(1 / 32)
    1.0f, 1.0218972f, 1.0442737f, 1.0671405f, 1.0905077f, 1.1143868f, 1.1387886f, 1.1637249f,
    1.1892071f, 1.2152474f, 1.2418578f, 1.269051f, 1.2968396f, 1.3252367f, 1.3542556f, 1.38391f,
    1.4142135f, 1.4451808f, 1.4768262f, 1.5091645f, 1.5422108f, 1.5759809f, 1.6104903f, 1.6457555f,
    1.6817929f, 1.7186193f, 1.7562522f, 1.7947091f, 1.8340081f, 1.8741677f, 1.9152066f, 1.9571441f};
alignas(64) inline constexpr float kRestOfPowers[32] = {
    0.0f, -4.81156e-08f, 4.83347e-08f, -5.933752e-08f, -1.307754e-08f, -5.43554e-08f, 5.3862223e-08f, -4.0514415e-08f,
    3.7976353e-08f, -3.267395e-08f, 4.496838e-08f, 1.4193333e-09f, -4.0189995e-08f, -3.4963733e-08f, -1.0123349e-08f, -5.8755774e-08f,
    2.4203235e-08f, 3.3242e-08f, -4.500899e-08f, -2.4959373e-08f, 8.070905e-09f, -5.6610254e-08f, 9.836217e-09f, -5.124972e-08f,
    -2.4755327e-08f, -4.8496176e-08f, -9.23577e-09f, -1.1415045e-08f, -1.1239278e-08f, -4.6630056e-08f, 9.845328e-09f, -1.7021804e-08f};
/// Of the 32 numbers of a table those that the last bits of k name.
inline F32 look_up(const float* table, I32 k) { return WEIR_PS(permutex2var, _mm512_load_ps(table), (__m512i)k.v, _mm512_load_ps(table + 16)); }
inline F32 exp_parts(F32 x, F32* to_n) {
  const F32 y = fma(x, F32(4.616624e+01f), F32(kRounding)), n = y - F32(kRounding);
  const F32 r = fma(n, F32(5.9520444e-11f), fma(n, F32(-2.166085e-02f), x));
  const F32 q = fma(fma(r, F32(1.0f / 6), F32(0.5f)), r * r, r), power = look_up(kPowers, bits(y));
  *to_n = n * F32(1.0f / 32);
  return power + fma(power, q, look_up(kRestOfPowers, bits(y)));
}
#else
/// What r and 1 + r are rounded by is added again: 1 argument in 100 is not rounded to the nearest number, of 10 without.
inline F32 exp_parts(F32 x, F32* to_n) {
  const F32 n = *to_n = fma(x, F32(1.44269504088896341f), F32(kRounding)) - F32(kRounding);
  const F32 far = fma(n, F32(-0.693145751953125f), x), r = fma(n, F32(-1.42860682030941723e-6f), far);
  const F32 lost = fma(n, F32(-1.42860682030941723e-6f), far - r), y = F32(1) + r;
  return y + ((r - (y - F32(1))) + fma(exp_tail(r), r * r, lost));
}
#endif
/// exp(x) for x in [-80, 80], whose exponent is a normal number's.
inline F32 exp_near(F32 x) {
  F32 n;
  I32 low;
  F32 p = exp_reduced(x, &n, &low);
  return of_bits(plus(bits(p), I32(low.v << 23)));
}

#ifdef __AVX512F__
/// x = 2^e m with m in [3/4, 3/2), whose leading bits look up c, of 7 digits, so that r = m c - 1 is exact and at most 1/32: the logarithm is that of 1 + r and of 2^e / c,
/// which is looked up too, as a number whose sum with r times a factor loses nothing that is not added again. 1 argument in 800 is not rounded to the nearest number.
alignas(64) inline constexpr float kReciprocals[32] = {
    1.0f, 0.953125f, 0.921875f, 0.90625f, 0.875f, 0.859375f, 0.828125f, 0.8125f, 0.796875f, 0.765625f, 0.75f, 0.734375f, 0.71875f, 0.703125f, 0.6875f, 0.671875f,
    1.3125f, 1.296875f, 1.265625f, 1.25f, 1.21875f, 1.203125f, 1.171875f, 1.15625f, 1.125f, 1.109375f, 1.09375f, 1.078125f, 1.0625f, 1.046875f, 1.03125f, 1.0f};
/// -log(c) in multiples of 2^-14 and what is left of it; the same of log(2); and log(e).
struct Base {
  float of_c[32], rest_of_c[32], two, rest_of_two, e, rest_of_e;
};
alignas(64) inline constexpr Base kE{
    {0.0f, 0.048034668f, 0.08135986f, 0.09844971f, 0.13354492f, 0.1515503f, 0.18859863f, 0.2076416f, 0.22705078f, 0.26708984f, 0.2876587f, 0.30871582f, 0.33026123f, 0.3522339f, 0.37469482f, 0.39770508f,
     -0.27191162f, -0.25994873f, -0.2355957f, -0.22314453f, -0.19781494f, -0.18493652f, -0.15863037f, -0.14520264f, -0.11779785f, -0.1038208f, -0.08959961f, -0.07519531f, -0.06060791f, -0.045837402f, -0.030761719f, 0.0f},
    {0.0f, -2.5448782e-05f, -1.4223828e-05f, -9.634218e-06f, -1.352925e-05f, -3.9484155e-07f, -7.4630047e-06f, -2.2367842e-06f,
     6.669385e-06f, -2.70585e-05f, 2.3381046e-05f, 1.9661336e-05f, -1.9543599e-05f, -1.3293129e-05f, -1.3747773e-06f, -2.2110458e-05f,
     -2.209439e-05f, -8.793968e-06f, 2.9631812e-05f, 9.799357e-07f, -1.0801924e-05f, 1.4184943e-05f, 2.5340918e-05f, 2.0626874e-05f,
     1.4815906e-05f, 2.40071e-05f, -1.2549314e-05f, -2.8108738e-05f, -1.671166e-05f, 2.7866312e-05f, -9.939917e-06f, 0.0f},
    0.69317627f, -2.9088971e-05f, 1.0f, 0.0f};
alignas(64) inline constexpr Base kTen{
    {0.0f, 0.020874023f, 0.035339355f, 0.04272461f, 0.0579834f, 0.0657959f, 0.08190918f, 0.090148926f, 0.09863281f, 0.1159668f, 0.124938965f, 0.13409424f, 0.14343262f, 0.1529541f, 0.16271973f, 0.17272949f,
     -0.11810303f, -0.11291504f, -0.10229492f, -0.09692383f, -0.0859375f, -0.080322266f, -0.06890869f, -0.06304932f, -0.05114746f, -0.04510498f, -0.03894043f, -0.03265381f, -0.026306152f, -0.019897461f, -0.013366699f, 0.0f},
    {0.0f, -2.3884464e-05f, -1.1393127e-05f, 2.7371047e-05f, 8.54854e-06f, 2.1386053e-05f, -5.075304e-06f, 2.7704567e-05f,
     -2.3014614e-05f, 1.709708e-05f, -2.2823545e-07f, -1.2122233e-05f, -1.0474885e-05f, 1.3358646e-05f, 7.5709354e-06f, -1.7973784e-05f,
     3.7152658e-06f, 1.692067e-05f, -1.012302e-05f, 1.3815117e-05f, 2.2871294e-05f, 1.1514437e-05f, 2.7401999e-05f, -2.4293408e-06f,
     -5.06151e-06f, 2.6605734e-05f, 2.2363658e-05f, -1.530816e-05f, -2.2786378e-05f, 2.6322205e-06f, 2.7376607e-06f, 0.0f},
    0.3010254f, 4.605039e-06f, 0.4342945f, -1.010305e-08f};
alignas(64) inline constexpr Base kTwo{
    {0.0f, 0.0692749f, 0.117370605f, 0.14202881f, 0.19262695f, 0.21862793f, 0.27209473f, 0.29956055f, 0.32757568f, 0.38531494f, 0.41503906f, 0.44543457f, 0.47644043f, 0.5081177f, 0.5405884f, 0.57373047f,
     -0.39233398f, -0.37506104f, -0.33984375f, -0.3218994f, -0.2854004f, -0.26678467f, -0.2288208f, -0.20947266f, -0.16992188f, -0.14971924f, -0.12927246f, -0.10852051f, -0.08746338f, -0.066101074f, -0.04437256f, 0.0f},
    {0.0f, -1.2239907e-05f, -1.3654831e-05f, -9.803722e-06f, 1.8124818e-05f, 1.2356788e-05f, -1.51811255e-05f, -2.650161e-07f,
     -1.0255652e-06f, -2.4785522e-05f, -1.5632212e-06f, -2.342199e-05f, -2.3857444e-06f, 2.922789e-05f, -1.9997544e-05f, 4.776548e-06f,
     1.6561597e-05f, 2.160381e-05f, -6.2528848e-06f, -2.8680824e-05f, -1.8282373e-06f, -1.8727261e-06f, 2.1102853e-06f, 1.9290621e-05f,
     -3.1264424e-06f, -2.7881224e-05f, -1.05560075e-05f, -3.9489655e-06f, 5.376559e-07f, 1.1883761e-05f, -2.1560765e-05f, 0.0f},
    1.0f, 0.0f, 1.442695f, 1.925963e-08f};
/// The logarithm of positive finite x to a base.
template <const Base& b> [[gnu::always_inline]] inline F32 log_to(F32 x) {
  const __m512 v = (__m512)x.v, m = _mm512_getmant_ps(v, _MM_MANT_NORM_p75_1p5, _MM_MANT_SIGN_nan);
  const I32 k((I32::V)_mm512_srli_epi32((__m512i)m, 18));
  const F32 e = WEIR_PS(getexp, v) - WEIR_PS(getexp, m), r = fma(F32((F32::V)m), look_up(kReciprocals, k), F32(-1));
  const F32 tail = polynomial(r, {0.2f, -0.25f, 1.0f / 3, -0.5f}) * (r * r);
  const F32 far = fma(e, F32(b.two), look_up(b.of_c, k)), part = r * F32(b.e), sum = far + part, lost = (far - sum) + part;
  const F32 rest = fma(e, F32(b.rest_of_two), look_up(b.rest_of_c, k));
  if constexpr (b.e == 1) return sum + (lost + (rest + tail));
  return sum + (lost + fma(tail, F32(b.e), rest + fma(r, F32(b.rest_of_e), fma(r, F32(b.e), -part))));
}
#else
/// x = 2^e m with m in [sqrt(1/2), sqrt(2)), for positive finite x.
inline F32 mantissa(F32 x, F32* e) {
  Mask<float> tiny = x < F32(1.17549435e-38f);
  F32 normal = where(tiny, x * F32(0x1p23f), x);
  I32 exponent(minus(bits(normal), I32(0x3f3504f3)).v >> 23);  // the bits of sqrt(1/2)
  *e = F32(__builtin_convertvector(exponent.v, F32::V)) - where(tiny, F32(23), F32(0));
  return of_bits(minus(bits(normal), I32(exponent.v << 23)));
}

/// log(1 + f) - f + f^2 / 2. Coefficients: Cephes logf.
inline F32 log_tail(F32 f) {
  const F32 p = polynomial(f, {7.0376836292e-2f, -1.1514610310e-1f, 1.1676998740e-1f, -1.2420140846e-1f, 1.4249322787e-1f, -1.6668057665e-1f,
                         2.0000714765e-1f, -2.4999993993e-1f, 3.3333331174e-1f});
  return p * f * (f * f);
}
/// log(2^e (1 + f)).
inline F32 log_of(F32 e, F32 f) {
  F32 y = fma(e, F32(-2.12194440e-4f), log_tail(f));
  y = fma(f * f, F32(-0.5f), y);
  return fma(e, F32(0.693359375f), f + y);
}
/// The logarithm of positive finite x to a base: e and f times the leading digits of the logarithms of 2 and e to it, then what these products are rounded by,
/// so that powers of the base come out whole.
struct Base {
  float two, rest_of_two, e, rest_of_e;
};
/// What the product of `a` and a number of up to 12 digits is rounded by.
inline F32 rest_of_product(F32 a, F32 b, F32 product) {
#ifdef __FMA__
  return fma(a, b, -product);
#else
  const F32 leading = of_bits(I32(bits(a).v & ~0xfff));
  return (leading * b - product) + (a - leading) * b;
#endif
}
template <Base b> F32 log_to(F32 x) {
  F32 e, f = mantissa(x, &e) - F32(1);
  if constexpr (b.e == 1) return log_of(e, f);
  const F32 whole = e * F32(b.two), part = f * F32(b.e), sum = whole + part;
  const F32 lost = (part - (sum - whole)) + rest_of_product(f, F32(b.e), part);
  const F32 rest = fma(e, F32(b.rest_of_two), fma(f, F32(b.rest_of_e), fma(f * f, F32(-0.5f), log_tail(f)) * F32(b.e + b.rest_of_e)));
  return sum + (lost + rest);
}
constexpr Base kE{0.693359375f, -2.12194440e-4f, 1.0f, 0.0f};
constexpr Base kTen{0.30078125f, 2.48745663981195213739e-4f, 0.43359375f, 7.00731903251827651129e-4f};
constexpr Base kTwo{1.0f, 0.0f, 1.44140625f, 1.28879088896340735992e-3f};
#endif

inline bool any(Mask<float> m) {
#if defined(__AVX512F__)
  return _mm512_movepi32_mask((__m512i)m.v);
#elif defined(__AVX2__)
  return _mm256_movemask_ps((Register)m.v);
#else
  return _mm_movemask_ps((Register)m.v);
#endif
}
inline bool any(Mask<double> m) {
#if defined(__AVX512F__)
  return _mm512_movepi64_mask((__m512i)m.v);
#elif defined(__AVX2__)
  return _mm256_movemask_pd((WideRegister)m.v);
#else
  return _mm_movemask_pd((WideRegister)m.v);
#endif
}
template <std::integral T> bool any(Mask<T> m) {
#if defined(__AVX512F__)
  return _mm512_movepi8_mask((__m512i)m.v);
#elif defined(__AVX2__)
  return _mm256_movemask_epi8((__m256i)m.v);
#else
  return _mm_movemask_epi8((__m128i)m.v);
#endif
}

/// Is a lane less than this? By the machine's own masks: lanes of a mask cost as much again.
inline bool any_below(F32 x, float limit) {
#ifdef __AVX512F__
  return _mm512_cmp_ps_mask((Register)x.v, (Register)F32(limit).v, _CMP_LT_OQ) != 0;
#else
  return any(x < F32(limit));
#endif
}

}  // namespace lanes
using lanes::any, lanes::fma;
#ifndef __FMA__
inline Vec<float> one_less_square(Vec<float> x) { return (Vec<float>(1) - x) * (Vec<float>(1) + x); }  // one factor is exact where little is left
#endif

inline Vec<float> exp(Vec<float> x) {
  using F = Vec<float>;
  F n;
  const F p = lanes::exp_parts(lanes::clamped(x, -104.0f, 89.0f), &n);
  constexpr float least = -87.33654f;
  return lanes::any_below(x, least) ? lanes::scaled_down(p, n, x < F(least)) : lanes::scaled(p, n);
}
/// libmvec computes lanes one by one whose results are no normal numbers. Most of these are zeros, of masked scores.
inline Vec<double> exp(Vec<double> x) {
  using D = Vec<double>;
  const Mask<double> tiny = x < D(-708);
  if (!lanes::any(tiny)) return exp_of_near(x);
  D y = where(tiny, D(0), exp_of_near(where(tiny, D(0), x)));
  const Mask<double> denormal = tiny & (x > D(-746));
  if (lanes::any(denormal))
    for (int i = 0; i < D::size; i++)
      if (denormal.v[i]) y.v[i] = std::exp(x.v[i]);
  return y;
}
inline Vec<float> exp2(Vec<float> x) {
  using F = Vec<float>;
  x = lanes::clamped(x, -151.0f, 129.0f);
  const F n = x + F(lanes::kRounding) - F(lanes::kRounding);
  const F p = lanes::expm1_small((x - n) * F(0.693147180559945309f)) + F(1);
  return lanes::any_below(x, -126) ? lanes::scaled_down(p, n, x < F(-126)) : lanes::scaled(p, n);
}

/// 2^n (exp(r) - 1 + (1 - 2^-n)), where nothing cancels that r was rounded to.
inline Vec<float> expm1(Vec<float> x) {
  using F = Vec<float>;
  F n;
  lanes::I32 low;
  const F e = lanes::expm1_reduced(lanes::clamped(x, -20.0f, 89.0f), &n, &low);
  const F least = where(n > F(30), F(0), lanes::of_bits(lanes::minus(lanes::I32(127 << 23), lanes::I32(low.v << 23))));
  return copysign(lanes::scaled(e + (F(1) - least), n), x);
}

// Written out in its callers, which then keep what it looks up in registers.
template <Vec<float> (*of)(Vec<float>)> [[gnu::always_inline]] inline Vec<float> log_by(Vec<float> x) {
  using F = Vec<float>;
  const F y = of(x);
  Mask<float> plain = (x > F(0)) & (x <= largest(x));
  if (!lanes::any(!plain)) return y;
  return where(plain, y, where(x == F(0), F(-INFINITY), where(x > F(0), x, F(NAN))));
}

inline Vec<float> log(Vec<float> x) { return log_by<lanes::log_to<lanes::kE>>(x); }
inline Vec<float> log10(Vec<float> x) { return log_by<lanes::log_to<lanes::kTen>>(x); }
inline Vec<float> log2(Vec<float> x) { return log_by<lanes::log_to<lanes::kTwo>>(x); }

/// log(u) with what rounding 1 + x to u has lost, to first order. Source: Kahan, in Goldberg 1991, theorem 4.
inline Vec<float> log1p(Vec<float> x) {
  using F = Vec<float>;
  F u = F(1) + x, lost = x - (u - F(1));
  F rough = log(u), y = rough + lost / u;
  return where(u == F(1), x, where((u > F(0)) & (u <= largest(u)), y, rough));  // at -1 and at infinity the correction is NaN
}

/// Two ranges: an odd polynomial below 0.625 (coefficients: Cephes tanhf), beyond it 1 - 2 / (exp(2|x|) + 1).
inline Vec<float> tanh(Vec<float> x) {
#ifdef __AVX512F__
  return Vec<float>((Vec<float>::V)kTanhPieces((lanes::Register)x.v));
#else
  using F = Vec<float>;
  F t = abs(x), s = x * x;
  F far = F(1) - F(2) / (lanes::exp_near(lanes::clamped(t + t, 0.0f, 20.0f)) + F(1));
  F p = lanes::polynomial(s, {-5.70498872745e-3f, 2.06390887954e-2f, -5.37397155531e-2f, 1.33314422036e-1f, -3.33332819422e-1f});
  return copysign(where(t > F(0.625f), far, fma(p * s, t, t)), x);
#endif
}

/// Two ranges: an odd polynomial below 0.93, beyond it 1 - exp(q(|x|)). Coefficients: N. Juffa.
inline Vec<float> erf(Vec<float> x) {
#ifdef __AVX512F__
  return Vec<float>((Vec<float>::V)kErfPieces((lanes::Register)x.v));
#else
  using F = Vec<float>;
  using lanes::fma, lanes::polynomial;
  F t = abs(x), s = x * x, clipped = where(t > F(4), F(4), t);
  F q = polynomial(clipped, {-1.72853470e-5f, 3.83197126e-4f, -3.88396438e-3f, 2.42546219e-2f, -1.06777877e-1f, -6.34846687e-1f, -1.28717512e-1f});
  F tail = F(1) - lanes::exp_near(fma(q, clipped, -clipped));
  F p = polynomial(s, {-5.96761703e-4f, 4.99119423e-3f, -2.67681349e-2f, 1.12819925e-1f, -3.76125336e-1f, 1.28379166e-1f});
  return where(t > F(0.927734375f), copysign(tail, x), fma(p, x, x));
#endif
}
// libmvec takes lanes of negative bases one by one, so they go there without their sign.
template <class T> requires kReal<T> Vec<T> signed_pow(Vec<T> x, Vec<T> y) {
  const Vec<T> size = pow_of_positive(abs(x), y);
  if (!lanes::any(copysign(Vec<T>(1), x) < Vec<T>(0))) return size;
  const Mask<T> whole = y == trunc(y), odd = whole & (y * Vec<T>(0.5) != trunc(y * Vec<T>(0.5)));
  const Mask<T> nowhere = (x < Vec<T>(0)) & (x >= -largest(x)) & !whole;
  return where(nowhere, Vec<T>(NAN), where(odd, copysign(size, x), size));
}
// Small whole exponents are products. Each lane is asked for itself, so that a number's power does not hang on its neighbours'.
template <class T> requires kReal<T> Vec<T> pow(Vec<T> x, Vec<T> y) {
  using V = Vec<T>;
  const Mask<T> two = y == V(2);
  const V square = x * x;
  if (!lanes::any(!two)) return square;
  const Mask<T> three = y == V(3), one = y == V(1), below = (y == V(-1)) | (y == V(-2)), product = one | two | three | below;
  if (!lanes::any(product)) return signed_pow(x, y);
  const V up = where(three, square * x, where(one | (y == V(-1)), x, square)), power = lanes::any(below) ? where(below, V(1) / up, up) : up;
  return lanes::any(!product) ? where(product, power, signed_pow(x, y)) : power;
}

/// log(gamma(2 + u)) / u of |u| <= 1/2. A minimax polynomial.
constexpr double kLogGamma[] = {2.74753900519096639e-7, -5.8112777689212462e-7, 9.24285222516227674e-7, -1.97431068884210674e-6, 4.38285453838466677e-6,
                                -9.45628851510171917e-6, 2.05060197017476186e-5, -4.49237275642476526e-5, 9.94576169215713313e-5, -2.23154977462927232e-4,
                                5.09669519652667278e-4, -1.19275390099830869e-3, 2.89051033086590093e-3, -7.3855510289355447e-3, 2.05808084277833798e-2,
                                -6.73523010531956387e-2, 3.2246703342411322e-1, 4.22784335098467136e-1};

// Of x >= 1/2: from 7.5 on by Stirling's series, below by a polynomial around 2 and the product that leads there. One logarithm serves both.
inline Vec<double> log_gamma_right(Vec<double> x) {
  using D = Vec<double>;
  const Mask<double> far = x >= D(7.5), below = x < D(1.5);
  D u = x - where(below, D(1), D(2)), product = where(below, x, D(1));
  for (int k = 1; k <= 5; k++) {
    const Mask<double> above = x >= D(k + 1.5);
    product = where(above, product * (x - D(k)), product), u = where(above, u - D(1), u);
  }
  const D l = log(where(far, x, product));
  D p(0);
  for (double c : kLogGamma) p = fma(p, u, D(c));
  const D near = fma(p, u, where(below, -l, l));
  if (!lanes::any(far)) return near;
  const D r = D(1) / x, s = r * r;
  D series(3617.0 / 122400);
  for (double c : {1.0 / 156, 691.0 / 360360, 1.0 / 1188, 1.0 / 1680, 1.0 / 1260, 1.0 / 360, 1.0 / 12}) series = D(c) - s * series;
  return where(far, fma(x - D(0.5), l, -x) + fma(r, series, D(0.91893853320467274178)), near);
}
/// sin(pi r) of |r| <= 1/2 by the first n terms of its series.
template <int n> Vec<double> sine_of_turn(Vec<double> r) {
  static constexpr auto c = [] {
    constexpr double pi = 3.14159265358979323846;
    std::array<double, n> c{pi};
    for (int k = 1; k < n; k++) c[k] = -c[k - 1] * pi * pi / (2 * k * (2 * k + 1));
    return c;
  }();
  const Vec<double> square = r * r;
  Vec<double> p(c[n - 1]);
  for (int k = n - 1; k-- > 0;) p = fma(p, square, Vec<double>(c[k]));
  return r * p;
}
/// Left of 1/2 by reflection; where its two parts cancel, beside zeros, by the C library.
inline Vec<double> lgamma(Vec<double> x) {
  using D = Vec<double>;
  const Mask<double> left = x < D(0.5);
  const D right = log_gamma_right(where(left, D(1) - x, where(x <= largest(x), x, D(1))));
  const D outside = where(abs(x) > largest(x), D(INFINITY), x + x);  // NaN stays
  if (!lanes::any(left)) return where(x <= largest(x), right, outside);
  const D sine = abs(sine_of_turn<12>(x - nearbyint(x)));
  const Mask<double> pole = sine == D(0);
  const D mirror = log(D(3.14159265358979323846) / where(pole, D(1), sine)), turned = mirror - right;
  D y = where(left, where(pole, D(INFINITY), turned), right);
  const Mask<double> cancels = left & !pole & (abs(turned) < D(0.25) * abs(right)) & (x >= -largest(x));
  if (lanes::any(cancels))
    for (int i = 0, sign; i < D::size; i++)
      if (cancels.v[i]) y.v[i] = ::lgamma_r(x.v[i], &sign);
  return where(abs(x) <= largest(x), y, outside);
}
/// By Stirling's series at x + 6, or 7 - x left of 1/2, and the product that leads there, for all numbers alike: two logarithms and no choices.
inline Vec<float> lgamma(Vec<float> x) {
  return in_double(x, [](Vec<double> v) {
    using D = Vec<double>;
    const Mask<double> left = v < D(0.5);
    const D low = where(left, D(1) - v, v), z = low + D(6);
    const D product = (low * (low + D(1))) * ((low + D(2)) * (low + D(3))) * ((low + D(4)) * (low + D(5)));
    const D sine = abs(sine_of_turn<8>(v - nearbyint(v)));
    const Mask<double> pole = left & (sine == D(0)), plain = abs(v) <= largest(v);
    const D factor = where(left, D(3.14159265358979323846) * product / where(pole, D(1), sine), product);
    const D r = D(1) / z, s = r * r;
    D series(3617.0 / 122400);
    for (double c : {1.0 / 156, 691.0 / 360360, 1.0 / 1188, 1.0 / 1680, 1.0 / 1260, 1.0 / 360, 1.0 / 12}) series = D(c) - s * series;
    const D at_z = fma(z - D(0.5), log(where(plain, z, D(1))), -z) + fma(r, series, D(0.91893853320467274178));
    const D y = log(where(plain, factor, D(1))) - at_z;
    const Mask<double> zero = (v == D(1)) | (v == D(2));
    return where(plain, where(pole, D(INFINITY), where(zero, D(0), where(left, y, -y))), where(v != v, v, D(INFINITY)));
  });
}
#undef WEIR_PS
#undef WEIR_PD

}  // namespace WEIR_ISA
}  // namespace weir
