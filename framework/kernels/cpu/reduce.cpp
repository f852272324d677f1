#include "framework/ops/reduce.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "framework/core/scratch.h"
#include "framework/kernels/cpu/loops.h"
#include "framework/kernels/cpu/reduction.h"

namespace weir {
namespace WEIR_ISA {
namespace {

// Sums of float run in float over blocks and in double across them: the error of a block is that of a short sum.
template <class T> using Total = std::conditional_t<std::is_same_v<T, float>, double, T>;  // complex64 is joined as complex128

// Room for a tile of numbers, which std::complex would set to zero.
template <class T> struct Room {
  alignas(64) std::byte bytes[kTile * sizeof(T)];
  T* data() { return reinterpret_cast<T*>(bytes); }
};

// `From` is what vectors of T are made of where the input has that type: T itself or a narrower one. Truths are added as bytes, as many as a byte
// can count, and those sums as int64.
template <class T, template <class> class Of, class From = T>
class Reducer {
  static constexpr bool kTruths = std::is_same_v<From, bool>;

 public:
  using Result = std::conditional_t<kTruths, int64_t, T>;
  Reducer(const Tensor& x, AxisSet axes) : x_(x), plan_(x, axes), item_(size_of(x.dtype())), direct_(x.dtype() == dtype_of<From>()) {}

  /// Fills out[i], in the compute type, for all kept positions.
  void run(Result* out) const {
    int64_t n = plan_.kept.count, m = plan_.reduced.count;
    if (m == 0) return void(std::fill_n(out, n, Result(Of<T>::start)));
    if (n == 1 && m > kGrain) return whole(out);
    if (rows_are_narrow()) return over_narrow_rows(out);
    const int64_t across = plan_.kept.inner_stride(), along = plan_.reduced.n ? plan_.reduced.inner_stride() : 1;
    const bool dense = across && (across < along || along == 0);
    const bool side_by_side = direct_ && plan_.kept.n <= 1 && plan_.reduced.n == 1 && plan_.reduced.inner_stride() == 1;
    if (side_by_side && m < Vec<T>::size) return over_short_lines<1>(out, n, m);
    if (of_pairs() && m < kFewRows) return over_short_lines<2>(out, n, m);
    const bool brief = m < (direct_ && plan_.reduced.inner_stride() == 1 ? Vec<T>::size : kBrief);
    bool columns = plan_.kept.n && plan_.kept.inner_size() >= 8 && (dense || brief);
    int64_t grain = kGrain / std::max<int64_t>(m, 1);
    if (columns) return parallel_for(n, std::max<int64_t>(grain, Vec<T>::size), [&](int64_t b, int64_t e) { over_columns(out, b, e); });
    const bool lines = side_by_side && m <= kBlock;
    parallel_for(n, grain, [&](int64_t b, int64_t e) {
      if (lines) return over_lines(out, b, e);
      for (int64_t i = b; i < e; i++) out[i] = Result(over_run(plan_.kept.offset(i), 0, m));
    });
  }

 private:
  using Acc = std::conditional_t<kTruths, int64_t, Total<T>>;
  static constexpr int64_t kBlock = kTruths ? 255 : 2048, kRows = 64;
  static constexpr int64_t kBrief = 32;  // fewer numbers than these are joined for many results at once, however they lie
  static constexpr int64_t kNarrow = 32;  // fewer results than these lie in dense rows that vectors cross
  static constexpr int64_t kFewRows = 8;  // of fewer, rows are joined as short lines are
  static constexpr int64_t kInOrder = 16;  // rows that are joined one after the other
  static constexpr int64_t kShares = 16;  // parts of long columns, whatever the number of threads

  const std::byte* at(int64_t offset) const { return x_.raw() + offset * int64_t(item_); }

  // All reduced positions [b, e) of one kept position.
  Acc over_run(int64_t base, int64_t b, int64_t e) const {
    Acc total = Acc(Of<T>::start);
    const Extents& r = plan_.reduced;
    int64_t inner = r.inner_size(), stride = r.inner_stride();
    Room<T> room;
    T* tile = room.data();
    while (b < e) {
      int64_t in_row = r.n ? b % inner : 0;
      int64_t n = std::min(e - b, inner - in_row), offset = base + r.offset(b);
      if (direct_ && stride == 1) {
        n = std::min(n, kBlock);
        total = Of<Acc>::join(total, Acc(reduce_block<T, Of>(reinterpret_cast<const From*>(at(offset)), n)));
      } else {
        n = std::min(n, std::min(kTile, kBlock));
        convert(x_.dtype(), at(offset), stride, dtype_of<T>(), tile, 1, n);
        total = Of<Acc>::join(total, Acc(reduce_block<T, Of>(tile, n)));
      }
      b += n;
    }
    return total;
  }

  // Short dense lines at one distance: offsets need no division.
  void over_lines(Result* out, int64_t b, int64_t e) const {
    const From* line = x_.data<From>();
    for (int64_t i = b; i < e; i++) out[i] = reduce_block<T, Of>(line + i * plan_.kept.inner_stride(), plan_.reduced.count);
  }

  // Of fewer numbers, or pairs, than fill a register, joined one after the other. Of the usual lengths the compiler knows how many.
  template <int kWide> void over_short_lines(Result* out, int64_t n, int64_t m) const {
    auto run = [&](auto length) {
      parallel_for(n / kWide, kGrain / m, [&](int64_t b, int64_t e) {
        const int64_t apart = plan_.kept.n ? plan_.kept.strides[0] : 1;
        const From* p = x_.data<From>() + b * apart;
        for (int64_t i = b; i < e; i++, p += apart) {
          T total[kWide];
          std::fill_n(total, kWide, Of<T>::start);
          for (int64_t k = 0; k < length; k++)
            for (int j = 0; j < kWide; j++) total[j] = Of<T>::join(total[j], lifted<Of<T>>(T(p[k * kWide + j])));
          for (int j = 0; j < kWide; j++) out[i * kWide + j] = Result(total[j]);
        }
      });
    };
    if (m == 2) run(std::integral_constant<int64_t, 2>{});
    else if (m == 3) run(std::integral_constant<int64_t, 3>{});
    else if (m == 4) run(std::integral_constant<int64_t, 4>{});
    else run(m);
  }

  // One result: the threads share the elements.
  void whole(Result* out) const {
    int64_t m = plan_.reduced.count;
    const int64_t shares = std::min(kShares, m / kGrain + 1);
    std::vector<Acc> part(shares, Acc(Of<T>::start));
    parallel_for(shares, 1, [&](int64_t b, int64_t e) {
      for (int64_t i = b; i < e; i++) part[i] = over_run(0, m * i / shares, m * (i + 1) / shares);
    });
    Acc total = Acc(Of<T>::start);
    for (Acc p : part) total = Of<Acc>::join(total, p);
    *out = Result(total);
  }

  bool rows_are_narrow() const {
    const int64_t n = plan_.kept.inner_size();
    return direct_ && n < kNarrow && n % Vec<T>::size && plan_.kept.n && plan_.kept.inner_stride() == 1 && plan_.reduced.n == 1 &&
           plan_.reduced.inner_stride() == n && plan_.reduced.count >= kFewRows;
  }
  // Lines of pairs, as the parts of complex numbers are.
  bool of_pairs() const {
    const Extents &kept = plan_.kept, &reduced = plan_.reduced;
    return direct_ && kept.n == 2 && kept.sizes[1] == 2 && kept.strides[1] == 1 && reduced.n == 1 && reduced.strides[0] == 2;
  }

  // Dense rows of a few numbers, joined down the columns: the numbers of every `n` vectors belong to the same columns.
  void over_narrow_rows(Result* out) const {
    const int64_t n = plan_.kept.inner_size(), m = plan_.reduced.count, groups = plan_.kept.count / n;
    const int64_t shares = groups > 1 ? 1 : std::clamp<int64_t>(m * n / kGrain, 1, kShares);
    std::vector<Acc> part(shares * n * groups, Acc(Of<T>::start));
    parallel_for(shares * groups, groups > 1 ? kGrain / (m * n) : 1, [&](int64_t from, int64_t to) {
      for (int64_t i = from; i < to; i++) {
        const int64_t group = i / shares, share = i % shares;
        const From* rows = x_.data<From>() + plan_.kept.offset(group * n);
        const int64_t row = m * share / shares, end = m * (share + 1) / shares;
        Vec<T>::size % n ? join_narrow(part.data() + i * n, n, rows, row, end) : join_packed(part.data() + i * n, n, rows + row * n, (end - row) * n);
      }
    });
    for (int64_t i = n; i < shares * n; i++) part[i % n] = Of<Acc>::join(part[i % n], part[i]);
    for (int64_t i = 0; i < groups * n; i++) out[i] = Result(part[i]);
  }
  // Of rows of which a vector holds several: `count` numbers.
  static void join_packed(Acc* total, int64_t n, const From* p, int64_t count) {
    constexpr int64_t w = Vec<T>::size, block = 2048;
    for (; count > 0; count -= block, p += block) {
      const int64_t now = std::min(count, block), whole = now / w * w;
      alignas(64) T lane[w];
      reduce_lanes<T, Of>(p, whole).store(lane);
      for (int64_t i = whole; i < now; i++) lane[i - whole] = Of<T>::join(lane[i - whole], lifted<Of<T>>(T(p[i])));
      int64_t held = w;
      for (; !kTruths && held > n; held /= 2) fold(lane, lane + held / 2, held / 2);
      for (int64_t i = 0; i < held; i++) {
        Acc& t = total[kTruths ? i % n : i];
        t = Of<Acc>::join(t, Acc(lane[i]));
      }
    }
  }
  // As many rows at a time as fill some vectors, so that one does not wait for the other; those left over are added to the first of them.
  static void join_narrow(Acc* total, int64_t n, const From* rows, int64_t row, int64_t end) {
    constexpr int64_t w = Vec<T>::size, kVectors = 8;
    const int64_t high = w * std::max<int64_t>(1, kVectors / n);
    alignas(64) T sum[std::max(kNarrow, kVectors) * w];
    while (row < end) {
      const int64_t times = std::min((end - row) / high, kRows), rest = times == (end - row) / high ? (end - row) % high : 0;
      int64_t held = times ? high : rest;
      std::fill(sum, sum + held * n, Of<T>::start);
      join_rows(sum, rows + row * n, n * high, times, n * high);
      join_rows(sum, rows + (row + times * high) * n, 0, rest != 0, n * rest);
      for (; !kTruths && held > 1; held = (held + 1) / 2) fold(sum, sum + (held + 1) / 2 * n, held / 2 * n);
      for (int64_t i = 0; i < held; i++)
        for (int64_t j = 0; j < n; j++) total[j] = Of<Acc>::join(total[j], Acc(sum[i * n + j]));
      row += times * high + rest;
    }
  }
  static void fold(T* acc, const T* more, int64_t n) {
    int64_t i = 0;
    for (; i + Vec<T>::size <= n; i += Vec<T>::size) Of<T>::join(Vec<T>::load(acc + i), Vec<T>::load(more + i)).store(acc + i);
    for (; i < n; i++) acc[i] = Of<T>::join(acc[i], more[i]);
  }

  // Kept positions [b, e), many along their innermost axis: of those the numbers are joined at once.
  void over_columns(Result* out, int64_t b, int64_t e) const {
    const int64_t inner = plan_.kept.inner_size(), stride = plan_.kept.inner_stride();
    Room<T> tiles[2];
    Room<Acc> totals;
    T *tile = tiles[0].data(), *block = tiles[1].data();
    Acc* total = totals.data();
    while (b < e) {
      int64_t n = std::min({e - b, inner - b % inner, kTile}), base = plan_.kept.offset(b);
      const bool once = plan_.reduced.count <= kRows;  // then there is nothing to join across blocks
      if (!once) std::fill(total, total + n, Acc(Of<T>::start));
      for (int64_t row = 0; row < plan_.reduced.count; row += kRows) {
        std::fill(block, block + n, Of<T>::start);
        int64_t stop = std::min(row + kRows, plan_.reduced.count);
        if (direct_ && stride == 1 && plan_.reduced.n == 1) {
          join_rows(block, x_.data<From>() + base + row * plan_.reduced.inner_stride(), plan_.reduced.inner_stride(), stop - row, n);
        } else {
          for (int64_t r = row; r < stop; r++) {
            const std::byte* p = at(base + plan_.reduced.offset(r));
            if (direct_ && stride == 1) {
              join_rows(block, reinterpret_cast<const From*>(p), 0, 1, n);
            } else {
              convert(x_.dtype(), p, stride, dtype_of<T>(), tile, 1, n);
              join_rows(block, tile, 0, 1, n);
            }
          }
        }
        for (int64_t i = 0; !once && i < n; i++) total[i] = Of<Acc>::join(total[i], Acc(block[i]));
      }
      if (once) for (int64_t i = 0; i < n; i++) out[b + i] = Result(block[i]);
      else for (int64_t i = 0; i < n; i++) out[b + i] = Result(total[i]);
      b += n;
    }
  }
  // `rows` rows of n numbers, `step` apart, joined to `acc`: a few one after the other, as a program's own loop and PyTorch add them up, more of them
  // four at a time, which wait for the total once. Few columns of many rows are
  // walked one after the other, others side by side: in which order a column's numbers are joined does not depend on it.
  template <class Number> static void join_rows(T* acc, const Number* src, int64_t step, int64_t rows, int64_t n) {
    constexpr int w = Vec<T>::size;
    auto vector = [](const Number* p) { return lifted<Of<T>>(vector_of<T>(p)); };
    auto single = [](const Number* p) { return lifted<Of<T>>(T(*p)); };
    auto join = [](auto a, auto b) { return Of<T>::join(a, b); };
    const bool brief = rows <= kInOrder;
    auto four = [&](auto total, const Number* p, auto number) {
      if (brief) return join(join(join(join(total, number(p)), number(p + step)), number(p + 2 * step)), number(p + 3 * step));
      return join(total, join(join(number(p), number(p + step)), join(number(p + 2 * step), number(p + 3 * step))));
    };
    const int64_t fours = rows / 4 * 4;
    if (n <= 8 * w && rows >= 8) {
      auto column = [&](auto total, const Number* p, auto number) {
        for (int64_t r = 0; r < fours; r += 4) total = four(total, p + r * step, number);
        for (int64_t r = fours; r < rows; r++) total = join(total, number(p + r * step));
        return total;
      };
      int64_t i = 0;
      for (; i + w <= n; i += w) column(Vec<T>::load(acc + i), src + i, vector).store(acc + i);
      for (; i < n; i++) acc[i] = column(acc[i], src + i, single);
      return;
    }
    for (int64_t r = 0; r < fours; r += 4, src += 4 * step) {
      int64_t i = 0;
      for (; i + w <= n; i += w) four(Vec<T>::load(acc + i), src + i, vector).store(acc + i);
      for (; i < n; i++) acc[i] = four(acc[i], src + i, single);
    }
    for (int64_t r = fours; r < rows; r++, src += step) {
      int64_t i = 0;
      for (; i + w <= n; i += w) join(Vec<T>::load(acc + i), vector(src + i)).store(acc + i);
      for (; i < n; i++) acc[i] = join(acc[i], single(src + i));
    }
  }

  const Tensor& x_;
  Reduction plan_;
  size_t item_;
  bool direct_;
};

void check_real(const char* op, DType t) {
  check<NotImplemented>(!is_complex(t), op, ": not implemented for '", name_of(t), "'");
}

struct Keep { template <class T> T operator()(T x) const { return x; } };

// Results come in the compute type, go through `finish` and are cast to the output's in one go.
template <template <class> class Of, class Finish = Keep>
void reduce(const Tensor& x, AxisSet axes, const Tensor& out, Finish finish = {}) {
  auto run = [&]<class T, class From = T>(TypeTag<T>, TypeTag<From> = {}) {
    using R = typename Reducer<T, Of, From>::Result;
    bool direct = out.dtype() == dtype_of<R>();
    Scratch<R> buffer(direct ? 0 : out.numel());
    R* result = direct ? out.data<R>() : buffer.data();
    Reducer<T, Of, From>(x, axes).run(result);
    if constexpr (!std::is_same_v<Finish, Keep>)
      for (int64_t i = 0; i < out.numel(); i++) result[i] = R(finish(result[i]));
    if (!direct) convert(dtype_of<R>(), result, 1, out.dtype(), out.raw(), 1, out.numel());
  };
  constexpr bool sums = std::is_same_v<SumOf<double>, Of<double>> || std::is_same_v<Of<double>, ProductOf<double>>;
  constexpr bool extremes = std::is_same_v<LargestOf<double>, Of<double>> || std::is_same_v<SmallestOf<double>, Of<double>>;
  if constexpr (sums)
    if (is_complex(x.dtype()) || is_complex(out.dtype())) {
      if (x.dtype() == DType::complex64) return run(TypeTag<std::complex<double>>{}, TypeTag<std::complex<float>>{});
      return run(TypeTag<std::complex<double>>{});
    }
  if (out.numel() == 0) return;  // of any dtype
  check_real("max", x.dtype());
  if (x.dtype() == DType::float64 || out.dtype() == DType::float64) run(TypeTag<double>{});
  else if (std::is_same_v<Of<double>, SumOf<double>> && x.dtype() == DType::boolean && !is_floating(out.dtype())) run(TypeTag<uint8_t>{}, TypeTag<bool>{});
  else if (x.dtype() == DType::bfloat16) run(TypeTag<float>{}, TypeTag<BFloat16>{});
  else if (x.dtype() == DType::float16) run(TypeTag<float>{}, TypeTag<Half>{});
  else if (is_floating(x.dtype()) || is_floating(out.dtype())) run(TypeTag<float>{});
  else if (!extremes || x.dtype() == DType::int64) run(TypeTag<int64_t>{});
  else if constexpr (extremes) size_of(x.dtype()) == 1 && x.dtype() != DType::int8 ? run(TypeTag<uint8_t>{}) : run(TypeTag<int32_t>{});
}

// With dtype= each element is cast before it is added up, which shows where the cast loses something.
Tensor cast_before(const Tensor& x, const std::optional<DType>& dtype) {
  if (!dtype || *dtype == x.dtype()) return x;
  bool from = is_inexact(x.dtype()), to = is_inexact(*dtype);
  bool exact = *dtype != DType::boolean && (from ? to && size_of(*dtype) > size_of(x.dtype()) : !to || size_of(*dtype) >= 4);
  if (exact) return x;
  Tensor r = empty(x.sizes(), *dtype, x.device());
  run_copy(x, r);
  return r;
}

// Sums of complex numbers are those of their parts.
void sum_of(const Tensor& x, AxisSet axes, const Tensor& out) {
  const bool parts = is_complex(x.dtype()) && x.dtype() == out.dtype() && x.ndim() < kMaxDims;
  reduce<SumOf>(parts ? with_parts(x) : x, axes, parts ? with_parts(out) : out);
}
void sum(const Sum& op, Inputs in, Outputs out) { sum_of(cast_before(in[0], op.dtype), reduced_axes("sum", op.dim, in[0].ndim()), out[0]); }
void nansum(const Nansum& op, Inputs in, Outputs out) {
  reduce<NumbersOf>(cast_before(in[0], op.dtype), reduced_axes("nansum", op.dim, in[0].ndim()), out[0]);
}
void mean(const Mean& op, Inputs in, Outputs out) {
  const double n = double(in[0].numel()) / double(std::max<int64_t>(out[0].numel(), 1)), scale = n == 0 ? NAN : 1 / n;
  const Tensor x = cast_before(in[0], op.dtype);
  const AxisSet axes = reduced_axes("mean", op.dim, x.ndim());
  if (!is_complex(out[0].dtype())) return reduce<SumOf>(x, axes, out[0], [scale](auto sum) { return sum * scale; });
  sum_of(x, axes, out[0]);
  auto scaled = [&]<class T>(T* p) { for (int64_t i = 0; i < out[0].numel(); i++) p[i] = T(times(std::complex<double>(p[i]), {scale, 0})); };
  out[0].dtype() == DType::complex64 ? scaled(out[0].data<std::complex<float>>()) : scaled(out[0].data<std::complex<double>>());
}
// The lengths of complex numbers, of which one is infinite that has an infinite part, whatever the other.
template <class R> Tensor lengths_of(const Tensor& x) {
  const Tensor dense = empty(x.sizes(), x.dtype()), r = empty(x.sizes(), dtype_of<R>());
  run_copy(x, dense);
  for (int64_t i = 0; i < r.numel(); i++) r.data<R>()[i] = std::abs(dense.data<std::complex<R>>()[i]);
  return r;
}
template <class R> bool any_nan(const Tensor& x) { return std::any_of(x.data<R>(), x.data<R>() + x.numel(), [](R v) { return v != v; }); }
void norm2(const Norm2& op, Inputs in, Outputs out) {
  AxisSet axes = reduced_axes("norm2", op.dim, in[0].ndim());
  bool parts = is_complex(in[0].dtype());
  if (!parts && in[0].numel() == out[0].numel())  // of single numbers, whose squares may be too small
    return reduce<SumOf>(in[0], axes, out[0], [](auto x) {
      if constexpr (requires { x.imag(); }) return x;
      else return x < 0 ? -x : x;
    });
  auto of_lengths = [&]<class R>(TypeTag<R>) { reduce<SumOf>(lengths_of<R>(in[0]), axes, out[0]); };
  if (in[0].numel() == out[0].numel()) return out[0].dtype() == DType::float64 ? of_lengths(TypeTag<double>{}) : of_lengths(TypeTag<float>{});
  reduce<SquaresOf>(parts ? with_parts(in[0]) : in[0], parts ? axes | axis_bit(in[0].ndim()) : axes, out[0], [](auto sum) { return std::sqrt(double(sum)); });
  auto again = [&]<class R>(TypeTag<R>) {  // beside NaN an infinite part counts for nothing in a sum of squares
    if (any_nan<R>(out[0])) reduce<SquaresOf>(lengths_of<R>(in[0]), axes, out[0], [](auto sum) { return std::sqrt(double(sum)); });
  };
  if (parts) out[0].dtype() == DType::float64 ? again(TypeTag<double>{}) : again(TypeTag<float>{});
}
void prod(const Prod& op, Inputs in, Outputs out) { reduce<ProductOf>(cast_before(in[0], op.dtype), first_axes(in[0].ndim()), out[0]); }
void prod_dim(const ProdDim& op, Inputs in, Outputs out) {
  reduce<ProductOf>(cast_before(in[0], op.dtype), reduced_axes("prod", Dims{op.dim}, in[0].ndim()), out[0]);
}
void max_all(const MaxAll&, Inputs in, Outputs out) { reduce<LargestOf>(in[0], reduced_axes("max", {}, in[0].ndim()), out[0]); }
void min_all(const MinAll&, Inputs in, Outputs out) { reduce<SmallestOf>(in[0], reduced_axes("min", {}, in[0].ndim()), out[0]); }
void amax(const Amax& op, Inputs in, Outputs out) { reduce<LargestOf>(in[0], reduced_axes("amax", op.dim, in[0].ndim()), out[0]); }
void amin(const Amin& op, Inputs in, Outputs out) { reduce<SmallestOf>(in[0], reduced_axes("amin", op.dim, in[0].ndim()), out[0]); }

// The first of n numbers that is `x`, or NaN where x is; one of them is.
template <class T> int64_t first_of(const T* p, int64_t n, T x) {
  auto is = [x](T v) { return (v == x) | ((v != v) & (x != x)); };
  constexpr int64_t block = 4 * Vec<T>::size;
  int64_t i = 0;
  for (; i + block <= n; i += block) {
    typename LaneInt<sizeof(T)>::type found = 0;
    for (int64_t k = 0; k < block; k++) found += is(p[i + k]);
    if (found) break;
  }
  while (!is(p[i])) i++;
  return i;
}

constexpr int64_t kStrip = 64;  // columns that a thread takes at a time

// Neighbouring columns of m rows, `stride` apart, side by side: their extremes and the rows of them.
template <bool kLargest, class T> void find_in_columns(const T* p, int64_t columns, int64_t m, int64_t stride, T* values, int64_t* indices) {
  constexpr int64_t block = 4 * Vec<T>::size;
  using Row = typename LaneInt<sizeof(T)>::type;
  for (int64_t c = 0; c < columns; c += block) {
    const int64_t n = std::min(block, columns - c);
    T top[block] = {};
    Row best[block] = {};
    std::copy_n(p + c, n, top);
    for (int64_t r = 1; r < m; r++) {
      const T* row = p + r * stride + c;
      auto join = [&](int64_t k) {
        const bool better = ((kLargest ? row[k] > top[k] : row[k] < top[k]) | (row[k] != row[k])) & (top[k] == top[k]);
        top[k] = better ? row[k] : top[k], best[k] = better ? Row(r) : best[k];
      };
      if (n == block) for (int64_t k = 0; k < block; k++) join(k);
      else for (int64_t k = 0; k < n; k++) join(k);
    }
    std::copy_n(best, n, indices + c);
    if (values) std::copy_n(top, n, values + c);
  }
}

// First position of the largest (or smallest) element; NaN is larger and smaller than anything.
template <bool kLargest, class T>
void find(const Tensor& x, AxisSet axes, T* values, int64_t* indices) {
  const Reduction plan(x, axes);
  // Positions count in the input's own order, so the reduced axes keep it.
  Extents reduced;
  for (int d = 0; d < x.ndim(); d++)
    if (axes >> d & 1) reduced.add(x.sizes()[d], x.strides()[d]);
  const int64_t m = reduced.count, inner = reduced.inner_size(), stride = reduced.inner_stride(), columns = plan.kept.inner_size();
  const bool same = x.dtype() == dtype_of<T>(), direct = same && stride == 1;
  const bool beside = same && !direct && reduced.n == 1 && plan.kept.inner_stride() == 1 && columns >= Vec<T>::size && m < (1 << 30);
  constexpr int64_t kGathered = 512;
  if (beside || (m <= kGathered && reduced.n <= 1 && columns >= 8 && (m <= kTile / kStrip || stride != 1))) {  // or gathered for many results at once
    const int64_t strips = (columns + kStrip - 1) / kStrip;
    return parallel_for(plan.kept.count / columns * strips, kGrain / (m * kStrip), [&](int64_t b, int64_t e) {
      Scratch<T> gathered(size_t(beside ? 0 : m * kStrip));
      T* tile = gathered.data();
      for (int64_t i = b; i < e; i++) {
        const int64_t c = i % strips * kStrip, to = i / strips * columns + c, n = std::min(kStrip, columns - c), base = plan.kept.offset(to);
        for (int64_t r = 0; !beside && r < m; r++)
          convert(x.dtype(), x.raw() + (base + r * stride) * int64_t(size_of(x.dtype())), plan.kept.inner_stride(), dtype_of<T>(), tile + r * kStrip, 1, n);
        find_in_columns<kLargest>(beside ? x.data<T>() + base : tile, n, m, beside ? stride : kStrip, values ? values + to : nullptr, indices + to);
      }
    });
  }
  parallel_for(plan.kept.count, kGrain / m, [&](int64_t b, int64_t e) {
    T tile[kTile];
    for (int64_t i = b; i < e; i++) {
      int64_t base = plan.kept.offset(i), best = 0;
      T top{};
      for (int64_t r = 0; r < m;) {
        const int64_t at = base + reduced.offset(r), n = direct ? std::min(m - r, inner - r % inner) : std::min({m - r, inner - r % inner, kTile});
        if (!direct) convert(x.dtype(), x.raw() + at * int64_t(size_of(x.dtype())), stride, dtype_of<T>(), tile, 1, n);
        const T* p = direct ? x.data<T>() + at : tile;
        const T t = kLargest ? reduce_block<T, LargestOf>(p, n) : reduce_block<T, SmallestOf>(p, n);
        if (r == 0 || (top == top && ((kLargest ? t > top : t < top) || t != t))) top = t, best = r + first_of(p, n, t);
        r += n;
      }
      indices[i] = best;
      if (values) values[i] = top;
    }
  });
}

template <bool kLargest>
void find_into(const Tensor& x, AxisSet axes, const Tensor* values, const Tensor& indices) {
  auto run = [&]<class T>(TypeTag<T>) {
    Scratch<T> top(values ? indices.numel() : 0);
    find<kLargest, T>(x, axes, values ? top.data() : nullptr, indices.data<int64_t>());
    if (values) convert(dtype_of<T>(), top.data(), 1, values->dtype(), values->raw(), 1, values->numel());
  };
  check_real("max", x.dtype());
  if (x.dtype() == DType::float64) run(TypeTag<double>{});
  else if (is_floating(x.dtype())) run(TypeTag<float>{});
  else run(TypeTag<int64_t>{});
}

template <bool kLargest, class Op> void arg_extreme(const Op& op, Inputs in, Outputs out) {
  std::optional<Dims> dim;
  if (op.dim) dim = Dims{*op.dim};
  find_into<kLargest>(in[0], reduced_axes("argmax", dim, in[0].ndim()), nullptr, out[0]);
}
template <bool kLargest, class Op> void extreme_with_index(const Op& op, Inputs in, Outputs out) {
  find_into<kLargest>(in[0], reduced_axes("max", Dims{op.dim}, in[0].ndim()), &out[0], out[1]);
}

}  // namespace

static const bool registered = [] {
  constexpr auto cpu = DeviceType::cpu;
  set_kernel<Sum, sum>(cpu);
  set_kernel<Nansum, nansum>(cpu);
  set_kernel<Mean, mean>(cpu);
  set_kernel<Norm2, norm2>(cpu);
  set_kernel<Prod, prod>(cpu);
  set_kernel<ProdDim, prod_dim>(cpu);
  set_kernel<MaxAll, max_all>(cpu);
  set_kernel<MinAll, min_all>(cpu);
  set_kernel<Amax, amax>(cpu);
  set_kernel<Amin, amin>(cpu);
  set_kernel<Argmax, arg_extreme<true, Argmax>>(cpu);
  set_kernel<Argmin, arg_extreme<false, Argmin>>(cpu);
  set_kernel<MaxDim, extreme_with_index<true, MaxDim>>(cpu);
  set_kernel<MinDim, extreme_with_index<false, MinDim>>(cpu);
  return true;
}();

}  // namespace WEIR_ISA
}  // namespace weir
