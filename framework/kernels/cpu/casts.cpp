#include "framework/kernels/cpu/casts.h"

#include "framework/core/storage_types.h"
#include "framework/kernels/cpu/halves.h"
#include "framework/kernels/cpu/loops.h"
#include "framework/kernels/cpu/moves.h"

namespace weir {
namespace WEIR_ISA {
namespace {

// Float to integer: out of range is undefined in C++; what is wider than int32 goes through int64, the rest through int32, as vectors do.
template <class To, class From> To cast(From x) {
  if constexpr (kIsComplex<From> && std::is_same_v<To, bool>) return is_nonzero(x);
  else if constexpr (kIsComplex<From> && kIsComplex<To>) return To(x);
  else if constexpr (kIsComplex<From>) return cast<To>(x.real());
  else if constexpr (kIsComplex<To>) return To(cast<typename To::value_type>(x));
  else if constexpr (std::is_same_v<To, bool> && std::is_integral_v<From>) return x != 0;
  else if constexpr (std::is_same_v<To, bool>) return float(x) != 0 || x != x;
  else if constexpr (std::is_same_v<From, BFloat16> || std::is_same_v<From, Half>) return cast<To>(float(x));
  else if constexpr (std::is_same_v<To, BFloat16>) return BFloat16(float(x));
  else if constexpr (std::is_same_v<To, Half>) return Half(float(x));
  else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From> && sizeof(To) <= 4) return To(int32_t(x));
  else if constexpr (std::is_same_v<To, uint64_t> && std::is_floating_point_v<From>)
    return x < From(9223372036854775808.0) ? uint64_t(int64_t(x)) : uint64_t(int64_t(x - From(9223372036854775808.0))) ^ (uint64_t(1) << 63);
  else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) return To(int64_t(x));
  else return To(x);
}
template <> bool cast<bool, double>(double x) { return x != 0; }

#ifdef __F16C__  // GCC converts _Float16 one by one
inline void widen(const Half* __restrict src, float* __restrict dst, int64_t n) {
  constexpr int w = Vec<float>::size;
  int64_t i = 0;
  for (; i + w <= n; i += w) widened(src + i).store(dst + i);
  for (; i < n; i++) dst[i] = float(src[i]);
}
#endif
#ifdef __AVX2__
template <class H> void narrow(const float* __restrict src, H* __restrict dst, int64_t n) {
  using F = Vec<float>;
  constexpr int w = F::size;
  int64_t i = 0;
  for (; i + 2 * w <= n; i += 2 * w) WEIR_ISA::narrow(F::load(src + i), F::load(src + i + w), dst + i);
  for (; i < n; i++) dst[i] = H(src[i]);
}
#endif

#if defined(__AVX2__) && !defined(__AVX512F__)
// What only AVX-512 has instructions for: whole numbers of 64 bits as doubles and back, four at a time.
typedef int64_t Four __attribute__((vector_size(32)));
using FourDoubles = Vec<double>::V;

// The upper half beside 2^84, the lower beside 2^52, each the last digits of such a number: one sum rounds.
inline FourDoubles doubles_of(Four x) {
  const Four low = (x & 0xffffffff) | 0x4330000000000000, high = ((x >> 32) & 0xffffffff) ^ 0x4530000080000000;
  return ((FourDoubles)high - 0x1.00000801p84) + (FourDoubles)low;
}
inline bool fits_doubles(Four x) { return !lanes::any(Mask<double>{((x + (int64_t(1) << 53)) & ~((int64_t(1) << 54) - 1)) != 0}); }

template <class F> void widths_apart(const int64_t* __restrict src, F* __restrict dst, int64_t n) {
  typedef F To __attribute__((vector_size(4 * sizeof(F))));
  int64_t i = 0;
  for (; i + 4 <= n; i += 4) {
    Four x;
    std::memcpy(&x, src + i, sizeof x);
    To y = __builtin_convertvector(doubles_of(x), To);
    if (sizeof(F) < 8 && !fits_doubles(x)) y = To{F(x[0]), F(x[1]), F(x[2]), F(x[3])};  // else rounded twice
    std::memcpy(dst + i, &y, sizeof y);
  }
  for (; i < n; i++) dst[i] = F(src[i]);
}
template <class F> void widths_apart(const F* __restrict src, int64_t* __restrict dst, int64_t n) {
  typedef F From __attribute__((vector_size(4 * sizeof(F))));
  const Vec<double> most(0x1p51), magic(0x1.8p52);  // beside which a whole number is the last digits
  int64_t i = 0;
  for (; i + 4 <= n; i += 4) {
    From x;
    std::memcpy(&x, src + i, sizeof x);
    const Vec<double> wide = __builtin_convertvector(x, FourDoubles);
    Four y = (Four)(trunc(wide) + magic).v - (Four)magic.v;
    if (lanes::any(!(abs(wide) < most))) y = Four{int64_t(x[0]), int64_t(x[1]), int64_t(x[2]), int64_t(x[3])};
    std::memcpy(dst + i, &y, sizeof y);
  }
  for (; i < n; i++) dst[i] = int64_t(src[i]);
}
#endif

template <class T> constexpr bool kIsHalf = std::is_same_v<T, Half>;
// Whether one is int64 and the other of the types that `Other` names.
template <class From, class To, template <class> class Other>
constexpr bool kInt64And = (std::is_same_v<From, int64_t> && Other<To>::value) || (std::is_same_v<To, int64_t> && Other<From>::value);
template <class T> using IsBFloat16 = std::is_same<T, BFloat16>;
constexpr int64_t kSome = 256;  // numbers that go through another type at a time

// Never written out in its callers: in hundreds of pairs of types that would be two thirds of the time that this source takes to compile.
template <class From, class To>
[[gnu::noinline]] void convert_run(const From* __restrict src, int64_t ss, To* __restrict dst, int64_t ds, int64_t n) {
  if (n <= 0) return;  // there may be no memory at all
  if (ss == 1 && ds == 1) {
    if constexpr (std::is_same_v<From, To>) {
      copy_bytes(src, dst, n * sizeof(To));
#ifdef __F16C__
    } else if constexpr (std::is_same_v<From, Half> && std::is_same_v<To, float>) {
      widen(src, dst, n);
    } else if constexpr (std::is_same_v<From, float> && std::is_same_v<To, Half>) {
      narrow(src, dst, n);
    } else if constexpr (kIsHalf<From> || kIsHalf<To> || kInt64And<From, To, IsBFloat16>) {
      float some[kSome];
      for (int64_t i = 0; i < n; i += kSome) {
        const int64_t m = std::min(kSome, n - i);
        convert_run<From, float>(src + i, 1, some, 1, m);
        convert_run<float, To>(some, 1, dst + i, 1, m);
      }
#endif
#ifdef __AVX2__
    } else if constexpr (std::is_same_v<From, float> && std::is_same_v<To, BFloat16>) {
      narrow(src, dst, n);
#endif
#if defined(__AVX2__) && !defined(__AVX512F__)
    } else if constexpr (kInt64And<From, To, std::is_floating_point>) {
      widths_apart(src, dst, n);
#endif
    } else if constexpr (std::is_same_v<From, bool>) {  // as bytes: loops over bool are not vectorised
      convert_run(reinterpret_cast<const uint8_t*>(src), 1, dst, 1, n);
    } else if constexpr (std::is_same_v<To, bool>) {
      auto* bytes = reinterpret_cast<uint8_t*>(dst);
      for (int64_t i = 0; i < n; i++) bytes[i] = cast<bool>(src[i]) ? 1 : 0;
    } else {
      for (int64_t i = 0; i < n; i++) dst[i] = cast<To>(src[i]);
    }
  } else if (ss == -1 && ds == 1) {  // reversed: a loop of its own is vectorised
    for (int64_t i = 0; i < n; i++) dst[i] = cast<To>(src[-i]);
  } else if (std::is_same_v<From, To> && ss == 2 && ds == 1) {  // every other: likewise
    for (int64_t i = 0; i < n; i++) dst[i] = cast<To>(src[2 * i]);
  } else if (ss == 0) {
    const To v = cast<To>(*src);
    // As whole numbers, of which the compiler makes vectors whatever the type.
    using Bits = std::conditional_t<sizeof(To) <= 8, typename LaneInt<std::min<size_t>(sizeof(To), 8)>::type, To>;
    const Bits bits = std::bit_cast<Bits>(v);
    Bits* const to = reinterpret_cast<Bits*>(dst);
    for (int64_t i = 0; i < n; i++) to[i * ds] = bits;
  } else if (!std::is_same_v<From, To> && ds == 1 && n >= 16) {  // side by side first, from where they convert in vectors
    From some[kSome];
    for (int64_t i = 0; i < n; i += kSome) {
      const int64_t m = std::min(kSome, n - i);
      convert_run(src + i * ss, ss, some, 1, m);
      convert_run(some, 1, dst + i, 1, m);
    }
  } else {
    for (int64_t i = 0; i < n; i++) dst[i * ds] = cast<To>(src[i * ss]);
  }
}

template <class From, class To> void convert_bytes(const void* src, int64_t ss, void* dst, int64_t ds, int64_t n) {
  convert_run(static_cast<const From*>(src), ss, static_cast<To*>(dst), ds, n);
}

template <class T> constexpr bool kStorageOnly = !std::is_same_v<T, typename Carrier<T>::type>;

template <class From, class To> [[gnu::noinline]] void each_as(const From* src, int64_t ss, To* dst, int64_t ds, int64_t n) {
  for (int64_t i = 0; i < n; i++) dst[i * ds] = To(src[i * ss]);
}

// Types that are only stored come and go through their carriers, some numbers at a time: a loop for each pair of types would
// be 300 more. uint64 has no carrier, and loops of its own.
template <class From, class To> void convert_carried(const void* p, int64_t ss, void* q, int64_t ds, int64_t n) {
  using Wide = typename Carrier<From>::type;
  using Made = typename Carrier<To>::type;
  Wide in[kSome];
  Made out[kSome];
  const From* src = static_cast<const From*>(p);
  To* dst = static_cast<To*>(q);
  for (int64_t i = 0; i < n; i += kSome, src += ss * kSome, dst += ds * kSome) {
    const int64_t m = std::min(kSome, n - i);
    if constexpr (kStorageOnly<From>) each_as(src, ss, in, 1, m);
    if constexpr (!kStorageOnly<To>) convert_run<Wide, To>(in, 1, dst, ds, m);
    else if constexpr (!kStorageOnly<From>) convert_run<From, Made>(src, ss, out, 1, m);
    else convert_run<Wide, Made>(in, 1, out, 1, m);
    if constexpr (kStorageOnly<To>) each_as(out, 1, dst, ds, m);
  }
}

// Elements as they are.
template <class T> void convert_same(const void* src, int64_t ss, void* dst, int64_t ds, int64_t n) {
  by_item_size(sizeof(T), [&]<class Item>(TypeTag<Item>) { convert_run(static_cast<const Item*>(src), ss, static_cast<Item*>(dst), ds, n); });
}

}  // namespace

Converter converter(DType from, DType to) {
  Converter r = nullptr;
  visit_any_dtype(from, [&]<class From>(TypeTag<From>) {
    visit_any_dtype(to, [&]<class To>(TypeTag<To>) {
      if constexpr (std::is_same_v<From, To>) r = convert_same<From>;
      else if constexpr (kStorageOnly<From> || kStorageOnly<To>) r = convert_carried<From, To>;
      else r = convert_bytes<From, To>;
    });
  });
  return r;
}

void convert(DType from, const void* src, int64_t ss, DType to, void* dst, int64_t ds, int64_t n) {
  converter(from, to)(src, ss, dst, ds, n);
}

}  // namespace WEIR_ISA
}  // namespace weir
