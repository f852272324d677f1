// From a formula to a kernel: the contiguous loops that loops.h drives.
#pragma once
#include "framework/kernels/cpu/formulas_complex.h"
#include "framework/kernels/cpu/halves.h"
#include "framework/kernels/cpu/loops.h"

namespace weir {
namespace WEIR_ISA {

template <class Op> constexpr int arity() {
  int n = 0;
  for (int i = 0; i < Op::signature.n; i++) n += is_input(Op::signature.params[i].ty);
  return n;
}

template <class Op, class V> [[gnu::always_inline]] inline V evaluate(const Op& op, const V* x) {
  using formulas::formula;
  if constexpr (arity<Op>() == 1) return formula(op, x[0]);
  else if constexpr (arity<Op>() == 2) return formula(op, x[0], x[1]);
  else return formula(op, x[0], x[1], x[2]);
}

/// What stands for an optional input that was not given: the op's own choice, infinities mapped to the type's limits.
template <class Op, class T> constexpr T missing(int input) {
  if constexpr (requires { Op::missing[0]; }) {
    double v = Op::missing[input];
    if (std::is_floating_point_v<T>) return T(v);
    return v < 0 ? std::numeric_limits<T>::lowest() : std::numeric_limits<T>::max();
  } else {
    return T(0);
  }
}

/// `of` two vectors of whole numbers lane by lane, for what the machine has for lanes of 32 bits only: shorter ones go there as halves of wider ones.
template <class V, class F> V in_wider_lanes(V a, V b, F of) {
  using T = std::remove_cvref_t<decltype(a[0])>;
  if constexpr (sizeof(T) >= 4) {
    return of(a, b);
  } else {
    using Wide = std::conditional_t<std::is_signed_v<T>, std::conditional_t<sizeof(T) == 1, int16_t, int32_t>, std::conditional_t<sizeof(T) == 1, uint16_t, uint32_t>>;
    typedef Wide W __attribute__((vector_size(sizeof(V))));
    constexpr int bits = 8 * sizeof(T);
    const W low = in_wider_lanes((W)a << bits >> bits, (W)b << bits >> bits, of), high = in_wider_lanes((W)a >> bits, (W)b >> bits, of);
    return (V)((low & Wide((1 << bits) - 1)) | (high << bits));
  }
}
template <class T> concept Narrow = std::is_integral_v<T> && sizeof(T) < 8;
template <class T> constexpr T kLastBit = 8 * sizeof(T) - 1;
template <Narrow T> Vec<T> formula(const ShiftLeft&, Vec<T> a, Vec<T> b) {
  const Mask<T> within = (b >= Vec<T>(0)) & (b <= Vec<T>(kLastBit<T>));
  return where(within, Vec<T>(in_wider_lanes(a.v, where(within, b, Vec<T>(0)).v, [](auto x, auto n) { return x << n; })), Vec<T>(0));
}
template <Narrow T> Vec<T> formula(const ShiftRight&, Vec<T> a, Vec<T> b) {
  const Vec<T> last(kLastBit<T>), most = where((b >= Vec<T>(0)) & (b <= last), b, last);
  const Vec<T> r(in_wider_lanes(a.v, most.v, [](auto x, auto n) { return x >> n; }));
  return std::is_signed_v<T> ? r : where(most == b, r, Vec<T>(0));  // of which the last bit would be left
}

/// Ops whose low bits depend on the low bits of their operands only, or that compare or choose: arithmetic of small integers
/// gives what int64 gives, faster and without casts.
using NarrowOps = OpList<Neg, Abs, Sign, Sgn, Square, LogicalNot, BitwiseNotInt, Floor, Ceil, Trunc, Round, Isnan, Isinf, Isfinite, Signbit, Relu, Add, Sub, Mul,
    Maximum, Minimum, Fmax, Fmin, BitwiseAnd, BitwiseOr, BitwiseXor, ShiftLeft, ShiftRight, Where, Addcmul, Clamp, ClampTensor, Eq, Ne, Lt, Le, Gt, Ge, LogicalAnd, LogicalOr, LogicalXor>;

/// Ops of whole numbers that divide: of small integers as well in small ones, though by longer formulas. Divisors of the least number wrap around, as
/// PyTorch's do.
using DividingOps = OpList<DivMode, FloorDivide, Remainder, Fmod, Gcd>;

template <class Op, class... Ops> constexpr bool contains(OpList<Ops...>) { return (std::is_same_v<Op, Ops> || ...); }

/// Formulas of a few instructions for floating point too.
using ShortOps = OpList<Div, ReluBackward, Sqrt, Reciprocal, Lerp, Addcdiv, Copysign, Rsqrt, Frac, Angle, Deg2rad, Rad2deg, NanToNum, Isposinf, Isneginf, Heaviside,
    Hardtanh, LeakyRelu, Softshrink, Hardshrink, Hardsigmoid, Hardswish, Threshold, PreluKernel, HardtanhBackward, LeakyReluBackward, ShrinkBackward,
    HardsigmoidBackward, HardswishBackward, ThresholdBackward, SigmoidBackward, TanhBackward, SquaredDifference, Bowl, BowlBackward>;

/// Formulas of a few long chains, of which the machine sees two at once if they stand side by side.
using ChainOps = OpList<Erf, Gelu>;

/// Where a formula is so short that what is around it would take as long: tiles, a call for each line, the loop itself.
template <class Op> constexpr bool kBrief = contains<Op>(NarrowOps{}) || contains<Op>(ShortOps{});

/// Longer formulas that are common between short ones.
using StagedOps = OpList<Exp, Log, Log1p, Tanh, Sigmoid, Silu, Erf, Gelu>;

/// How many vectors a turn of the loop takes.
template <class Op> constexpr int kTurn = kBrief<Op> ? 4 : contains<Op>(ChainOps{}) ? 2 : 1;

/// What of a contiguous loop depends on the op; each returns where the rest begins. `fixed` as in Loop.
template <class T> struct LoopParts {
  using Turns = int64_t (*)(const void* op, T* out, const T* const* in, const Vec<T>* numbers, int64_t n);
  Turns turns[3];  // as many as n elements fill, by what is fixed: nothing, or one of two inputs; null where a turn is one vector
  int64_t (*one_by_one)(const void* op, T* out, const T* const* in, const Vec<T>* numbers, uint32_t fixed, int64_t i, int64_t n);  // vectors, from i on
  T missing[3];
};

template <class Op, uint32_t fixed, class T> int64_t turns(const void* p, T* out, const T* const* in_data, const Vec<T>* numbers, int64_t n) {
  constexpr int k = arity<Op>(), w = Vec<T>::size, turn = kTurn<Op>;
  const Op op = *static_cast<const Op*>(p);  // a copy: what is stored through `out` cannot change it
  const T* in[k];
  Vec<T> x[k];
  for (int j = 0; j < k; j++) in[j] = in_data[j], x[j] = numbers[j];
  int64_t i = 0;
  for (; i + turn * w <= n; i += turn * w)
#pragma GCC unroll 4
    for (int t = 0; t < turn; t++) {
      for (int j = 0; j < k; j++)
        if (!(fixed >> j & 1)) x[j] = Vec<T>::load(in[j] + i + t * w);
      evaluate(op, x).store(out + i + t * w);
    }
  return i;
}

template <class Op, class T>
int64_t one_by_one(const void* p, T* out, const T* const* in_data, const Vec<T>* numbers, uint32_t fixed, int64_t i, int64_t n) {
  constexpr int k = arity<Op>(), w = Vec<T>::size;
  const Op op = *static_cast<const Op*>(p);
  const T* in[k];
  Vec<T> x[k];
  for (int j = 0; j < k; j++) in[j] = in_data[j], x[j] = numbers[j];
  for (; i + w <= n; i += w) {
    for (int j = 0; j < k; j++)
      if (!(fixed >> j & 1)) x[j] = Vec<T>::load(in[j] + i);
    evaluate(op, x).store(out + i);
  }
  return i;
}

// The loop of all ops of k inputs: in it a formula is called, so that it is compiled once and not for each end that a loop has.
template <int k, class T>
[[gnu::noinline]] void run_parts(const LoopParts<T>& parts, const void* op, void* out_data, const void* const* in_data, uint32_t fixed, int64_t n) {
  constexpr int w = Vec<T>::size;
  T* out = static_cast<T*>(out_data);
  const T* in[k];
  Vec<T> x[k];
  for (int j = 0; j < k; j++) {
    in[j] = static_cast<const T*>(in_data[j]);
    x[j] = Vec<T>(in[j] ? *in[j] : parts.missing[j]);
    if (!in[j]) fixed |= 1u << j;
  }
  // What no whole vector is left for is computed with the numbers before it, from what they are before the loop changes them in place.
  T last[w];
  const bool overlaps = n >= w && n % w;
  if (overlaps) {
    const T* at[k];
    for (int j = 0; j < k; j++) at[j] = in[j] + (fixed >> j & 1 ? 0 : n - w);
    parts.one_by_one(op, last, at, x, fixed, 0, w);
  }
  int64_t i = 0;
  if (parts.turns[0] && (fixed == 0 || (k == 2 && fixed < 3))) i = parts.turns[fixed](op, out, in, x, n);
  if (i + w <= n) i = parts.one_by_one(op, out, in, x, fixed, i, n);
  if (overlaps) std::memcpy(out + n - w, last, sizeof last);
  if (overlaps || i == n) return;
  // All in one padded vector. Ones, so that integer division sees no zero that is not the caller's.
  T pad[k][w];
  for (int j = 0; j < k; j++) {
    if (fixed >> j & 1) continue;
    for (int l = 0; l < w; l++) pad[j][l] = i + l < n ? in[j][i + l] : T(1);
    in[j] = pad[j];
  }
  parts.one_by_one(op, last, in, x, fixed, 0, w);
  std::memcpy(out + i, last, (n - i) * sizeof(T));
}

template <class Op, class T> constexpr LoopParts<T> parts_of() {
  LoopParts<T> p{{}, one_by_one<Op, T>, {missing<Op, T>(0), missing<Op, T>(1), missing<Op, T>(2)}};
  if constexpr (kTurn<Op> > 1) {
    p.turns[0] = turns<Op, 0, T>;
    if constexpr (arity<Op>() == 2) p.turns[1] = turns<Op, 1, T>, p.turns[2] = turns<Op, 2, T>;
  }
  return p;
}
template <class Op, class T> void loop(const void* op, void* out, const void* const* in, uint32_t fixed, int64_t n) {
  static constexpr LoopParts<T> parts = parts_of<Op, T>();
  run_parts<arity<Op>()>(parts, op, out, in, fixed, n);
}

/// A formula as a stage, with what it takes.
template <class Op, Taken taken> struct Formula {
  static void run(const Stage& s, int64_t, Vec<float>* x, Vec<float>* y) {
    const Op& op = *static_cast<const Op*>(s.op);
    constexpr bool has_number = taken == Taken::x_number || taken == Taken::number_x;
    const Vec<float> number(has_number ? *reinterpret_cast<const float*>(s.at) : 0.0f);
#pragma GCC unroll 4
    for (int v = 0; v < kBlockVectors; v++) {
      const Vec<float> other = has_number ? number : taken == Taken::x_x ? x[v] : y[v];
      const bool turned = taken == Taken::number_x || taken == Taken::y_x;
      const Vec<float> in[2] = {turned ? other : x[v], turned ? x[v] : other};
      x[v] = evaluate(op, in);
    }
  }
};
template <class Op> constexpr FormulaStages kFormulaStages = {nullptr, stage<Formula<Op, Taken::x_number>>, stage<Formula<Op, Taken::number_x>>,
    stage<Formula<Op, Taken::x_x>>, stage<Formula<Op, Taken::x_y>>, stage<Formula<Op, Taken::y_x>>};
template <class Op> requires (arity<Op>() == 1) constexpr FormulaStages kFormulaStages<Op> = {stage<Formula<Op, Taken::x>>};

template <class Op, int third, bool turned, Third kind> struct FormulaOfThree {
  static void run(const Stage& s, int64_t i, Vec<float>* x, Vec<float>* y) {
    const Op& op = *static_cast<const Op*>(s.op);
    constexpr int one = third == 0, other = third == 2 ? 1 : 2;
#pragma GCC unroll 4
    for (int v = 0; v < kBlockVectors; v++) {
      const int64_t at = i + v * Vec<float>::size;
      Vec<float> in[3];
      if constexpr (kind == Third::floats) in[third] = Vec<float>::load(reinterpret_cast<const float*>(s.at) + at);
      else if constexpr (kind == Third::truths) in[third] = widened(reinterpret_cast<const bool*>(s.at) + at);
      else in[third] = Vec<float>(*reinterpret_cast<const float*>(s.at));
      in[one] = turned ? y[v] : x[v], in[other] = turned ? x[v] : y[v];
      x[v] = evaluate(op, in);
    }
  }
};
template <class Op, int k> constexpr StageCall kStageOfThree =
    stage<FormulaOfThree<Op, k / int(Third::count) / 2, k / int(Third::count) % 2, Third(k % int(Third::count))>>;
template <class Op> requires (arity<Op>() == 3) constexpr FormulaStages kFormulaStages<Op> = {kStageOfThree<Op, 0>, kStageOfThree<Op, 1>, kStageOfThree<Op, 2>,
    kStageOfThree<Op, 3>, kStageOfThree<Op, 4>, kStageOfThree<Op, 5>, kStageOfThree<Op, 6>, kStageOfThree<Op, 7>, kStageOfThree<Op, 8>, kStageOfThree<Op, 9>,
    kStageOfThree<Op, 10>, kStageOfThree<Op, 11>, kStageOfThree<Op, 12>, kStageOfThree<Op, 13>, kStageOfThree<Op, 14>, kStageOfThree<Op, 15>, kStageOfThree<Op, 16>,
    kStageOfThree<Op, 17>};

// As LineLoop, with `fixed` perhaps known when compiled.
template <class Op, class T, class Fixed> void lines_of(const Op op, T* out, const T* const* in_data, Fixed fixed, int64_t n, int64_t lines, const int64_t* apart) {
  constexpr int k = arity<Op>(), w = Vec<T>::size;
  const T* in[k];
  Vec<T> x[k];
  for (int j = 0; j < k; j++) in[j] = in_data[j];
  auto at = [&](int64_t i) __attribute__((always_inline)) {
    for (int j = 0; j < k; j++)
      if (!(fixed >> j & 1)) x[j] = Vec<T>::load(in[j] + i);
    return evaluate(op, x);
  };
  for (; lines; lines--) {
    for (int j = 0; j < k; j++) x[j] = Vec<T>(fixed >> j & 1 ? *in[j] : T(0));  // the compiler does not see that others are loaded
    Vec<T> last(T(0));
    if (n % w) last = at(n - w);  // before anything is changed in place
#pragma GCC unroll 4
    for (int64_t i = 0; i + w <= n; i += w) at(i).store(out + i);
    if (n % w) last.store(out + n - w);
    out += apart[0];
    for (int j = 0; j < k; j++) in[j] += apart[j + 1];
  }
}
template <class Op, class T> void lines(const void* p, void* out, const void* const* in_data, uint32_t fixed, int64_t n, int64_t lines, const int64_t* apart_data) {
  constexpr int k = arity<Op>();
  const Op op = *static_cast<const Op*>(p);
  const T* in[k];
  T numbers[k];
  int64_t apart[k + 1] = {apart_data[0]};
  for (int j = 0; j < k; j++) {
    numbers[j] = missing<Op, T>(j);
    in[j] = in_data[j] ? static_cast<const T*>(in_data[j]) : &numbers[j];
    apart[j + 1] = in_data[j] ? apart_data[j + 1] : 0;
    if (!in_data[j]) fixed |= 1u << j;
  }
  auto run = [&](auto known) { lines_of(op, static_cast<T*>(out), in, known, n, lines, apart); };
  if (fixed == 0) run(std::integral_constant<uint32_t, 0>{});
  else if (k == 2 && fixed == 1) run(std::integral_constant<uint32_t, 1>{});
  else if (k == 2 && fixed == 2) run(std::integral_constant<uint32_t, 2>{});
  else run(fixed);
}

// The same of H, bfloat16 or float16: tiles of floats on the way would be written and read once more than the numbers themselves. What is fixed is in
// `numbers`, a float of each line.
template <class Op, class H, class Fixed>
void half_lines_of(const Op op, H* out, const H* const* in_data, const float* const* numbers, Fixed fixed, int64_t n, int64_t lines, const int64_t* apart) {
  constexpr int k = arity<Op>(), w = Vec<float>::size;
  const H* in[k];
  Vec<float> x[k];
  for (int j = 0; j < k; j++) in[j] = in_data[j];
  for (int64_t line = 0; line < lines; line++) {
    for (int j = 0; j < k; j++) x[j] = Vec<float>(fixed >> j & 1 ? numbers[j][line * apart[j + 1]] : 0.0f);
    int64_t i = 0;
    for (; i + 2 * w <= n; i += 2 * w) {
      Vec<float> y[2];
#pragma GCC unroll 2
      for (int t = 0; t < 2; t++) {
        for (int j = 0; j < k; j++)
          if (!(fixed >> j & 1)) x[j] = widened(in[j] + i + t * w);
        y[t] = evaluate(op, x);
      }
      narrow(y[0], y[1], out + i);
    }
    for (; i < n; i += w) {
      const int64_t rest = n - i;
      H pad[w] = {};
      for (int j = 0; j < k; j++)
        if (!(fixed >> j & 1)) x[j] = widened(rest < w ? std::copy_n(in[j] + i, rest, pad), pad : in[j] + i);
      narrow(evaluate(op, x), rest < w ? pad : out + i);
      if (rest < w) std::copy_n(pad, rest, out + i);
    }
    out += apart[0];
    for (int j = 0; j < k; j++)
      if (!(fixed >> j & 1)) in[j] += apart[j + 1];
  }
}
template <class Op, class H> void half_lines(const void* p, void* out, const void* const* in_data, uint32_t fixed, int64_t n, int64_t lines, const int64_t* apart_data) {
  constexpr int k = arity<Op>();
  const Op op = *static_cast<const Op*>(p);
  const H* in[k];
  const float* numbers[k];
  float absent[k];
  int64_t apart[k + 1] = {apart_data[0]};
  for (int j = 0; j < k; j++) {
    absent[j] = missing<Op, float>(j);
    in[j] = static_cast<const H*>(in_data[j]), numbers[j] = in_data[j] ? static_cast<const float*>(in_data[j]) : &absent[j];
    apart[j + 1] = in_data[j] ? apart_data[j + 1] : 0;
    if (!in_data[j]) fixed |= 1u << j;
  }
  auto run = [&](auto known) { half_lines_of(op, static_cast<H*>(out), in, numbers, known, n, lines, apart); };
  if (fixed == 0) run(std::integral_constant<uint32_t, 0>{});
  else if (k == 2 && fixed == 1) run(std::integral_constant<uint32_t, 1>{});
  else if (k == 2 && fixed == 2) run(std::integral_constant<uint32_t, 2>{});
  else run(fixed);
}

// What changes at most the sign of a half, its highest bit, in whole numbers.
template <class Op> struct SignOf : Op {};
inline Vec<int16_t> formula(const SignOf<Neg>&, Vec<int16_t> x) { return x ^ Vec<int16_t>(INT16_MIN); }
inline Vec<int16_t> formula(const SignOf<Abs>&, Vec<int16_t> x) { return x & Vec<int16_t>(INT16_MAX); }
inline Vec<int16_t> formula(const SignOf<Copysign>&, Vec<int16_t> x, Vec<int16_t> y) {
  return (x & Vec<int16_t>(INT16_MAX)) | (y & Vec<int16_t>(INT16_MIN));
}
template <class Op> constexpr bool kBrief<SignOf<Op>> = true;
using SignOps = OpList<Neg, Abs, Copysign>;

template <class Op, class H> void lines_of_halves(const void* p, void* out, const void* const* in, uint32_t fixed, int64_t n, int64_t lines, const int64_t* apart) {
  if constexpr (contains<Op>(SignOps{})) {
    constexpr int k = arity<Op>();
    for (int64_t i = 0; i < lines; i++) {
      int16_t numbers[k];
      const void* at[k];
      for (int j = 0; j < k; j++) {
        at[j] = static_cast<const H*>(in[j]) + i * apart[j + 1];
        if (!(fixed >> j & 1)) continue;
        const float number = static_cast<const float*>(in[j])[i * apart[j + 1]];
        numbers[j] = int16_t((std::bit_cast<int16_t>(H(number)) & INT16_MAX) | (std::signbit(number) ? INT16_MIN : 0));  // of NaN too
        at[j] = &numbers[j];
      }
      loop<SignOf<Op>, int16_t>(p, static_cast<H*>(out) + i * apart[0], at, fixed, n);
    }
  } else {
    half_lines<Op, H>(p, out, in, fixed, n, lines, apart);
  }
}

/// The loops of real numbers alone.
template <class Op> Loops real_loops(Loops l = {}) {
  l.f32 = loop<Op, float>, l.f64 = loop<Op, double>;
  if constexpr (kBrief<Op> || contains<Op>(StagedOps{})) l.f32_stages = &kFormulaStages<Op>;
  if constexpr (kBrief<Op>) {
    l.f32_lines = lines<Op, float>, l.f64_lines = lines<Op, double>;
    l.bf16 = lines_of_halves<Op, BFloat16>;
#ifdef __F16C__
    l.f16 = lines_of_halves<Op, Half>;
#endif
  }
  return l;
}

template <class Op> Loops loops_of() {
  Loops l;
  constexpr Rule rule = Op::rule;
  if constexpr (rule != Rule::integral) l = real_loops<Op>();
  if constexpr (rule != Rule::real && rule != Rule::floating && rule != Rule::wide) l.i64 = loop<Op, int64_t>;
  if constexpr (std::is_same_v<Op, Lcm>) l.i32 = loop<Op, int32_t>;  // in which PyTorch multiplies what is smaller
  if constexpr (contains<Op>(NarrowOps{}) || contains<Op>(DividingOps{})) {
    l.i32 = loop<Op, int32_t>, l.i16 = loop<Op, int16_t>;
    l.i8 = loop<Op, int8_t>, l.u8 = loop<Op, uint8_t>;
  }
  constexpr bool fast = contains<Op>(formulas::FastComplexOps{});
  if constexpr (fast) l.c64 = loop<Op, std::complex<float>>;
  if constexpr (fast || contains<Op>(formulas::ComplexOps{})) l.c128 = loop<Op, std::complex<double>>;
  return l;
}

template <class Op> DType computes(const void* p, Inputs in, DType out) {
  const Op& op = *static_cast<const Op*>(p);
  DType compute = out;
  if constexpr (Op::rule == Rule::compare || Op::rule == Rule::predicate || Op::inplace.offered)
    compute = compute_dtype(Op::signature.text.data(), Op::rule, in);
  if constexpr (requires { op.computes_in(in); }) compute = op.computes_in(in);
  return compute;
}

template <class Op> void pointwise_kernel(const Op& op, Inputs in, Outputs out) {
  static const Loops loops = loops_of<Op>();
  run_pointwise(Op::signature.name.data(), loops, computes<Op>(&op, in, out[0].dtype()), &op, in, out[0]);
}

/// Registers the kernels of a family: `static const PointwiseKernels<UnaryOps> kernels;`
template <class Family> struct PointwiseKernels {
  PointwiseKernels() {
    Family::for_each([](auto tag) {
      using Op = typename decltype(tag)::type;
      set_kernel<Op, pointwise_kernel<Op>>(DeviceType::cpu);
      pointwise_ops()[kernel_slots<Op>] = {loops_of<Op>(), computes<Op>};
    });
  }
};

}  // namespace WEIR_ISA
}  // namespace weir
