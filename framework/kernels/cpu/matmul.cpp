#include "framework/kernels/cpu/matmul.h"

#include <algorithm>
#include <vector>

#include "framework/core/scratch.h"
#include "framework/kernels/cpu/arithmetic.h"
#include "framework/kernels/cpu/lapack.h"
#include "framework/kernels/cpu/loops.h"
#include "framework/kernels/cpu/block_product.h"
#include "framework/kernels/cpu/onednn.h"
#include "framework/kernels/cpu/small_product.h"
#include "framework/kernels/cpu/tiles.h"
#include "framework/ops/matmul.h"

namespace weir {
namespace WEIR_ISA {
namespace {

constexpr int64_t kSmallProduct = 24 * 24 * 24;  // multiplications; below, setting oneDNN up costs more than the work

// c[i, :] += a[i, k] * w[k, :]; the plain version, and the one for types oneDNN has not, in blocks where these fit. Elsewhere it accumulates in Acc,
// which may be wider than T: small products are cheap and should be right.
template <class T, class Acc>
void plain_gemm(const Gemm& g, const T* a, const T* w, const T* bias, T* out) {
  if (g.w_strides[2] != 1 && g.n > 4 && g.p > 4) {  // lines of w side by side first
    Scratch<T> lines(g.m * g.p);
    Gemm one = g;
    one.batch = 1, one.w_strides = Dims{g.m * g.p, g.p, 1};
    for (int64_t i = 0; i < g.batch; i++) {
      for (int64_t k = 0; k < g.m; k++) convert(dtype_of<T>(), w + i * g.w_strides[0] + k * g.w_strides[1], g.w_strides[2], dtype_of<T>(), &lines[k * g.p], 1, g.p);
      plain_gemm<T, Acc>(one, a + i * g.a_strides[0], lines.data(), bias, out + i * g.out_strides[0]);
    }
    return;
  }
  if constexpr (std::is_same_v<T, float> || (std::is_integral_v<T> && std::is_same_v<T, Acc>))
    if (in_blocks<T>(g)) return block_product(g, a, w, bias, out);
  parallel_for(g.batch * g.n, kGrain / std::max<int64_t>(g.m * g.p, 1), [&](int64_t b, int64_t e) {
    std::vector<Acc> row(g.p);
    for (int64_t i = b; i < e; i++) {
      const T* x = a + i / g.n * g.a_strides[0] + i % g.n * g.a_strides[1];
      const T* y = w + i / g.n * g.w_strides[0];
      for (int64_t j = 0; j < g.p; j++) row[j] = bias ? Acc(bias[j]) : Acc(0);
      if (g.p == 1 && g.a_strides[2] == 1 && g.w_strides[1] == 1) {  // a loop that the compiler makes vectors of
        Acc sum = row[0];
        for (int64_t k = 0; k < g.m; k++) sum += Acc(x[k]) * Acc(y[k]);
        row[0] = sum;
      } else for (int64_t k = 0; k < g.m; k++) {
        Acc s = Acc(x[k * g.a_strides[2]]);
        const T* line = y + k * g.w_strides[1];
        if (g.w_strides[2] == 1) for (int64_t j = 0; j < g.p; j++) row[j] += s * Acc(line[j]);
        else for (int64_t j = 0; j < g.p; j++) row[j] += s * Acc(line[j * g.w_strides[2]]);
      }
      T* to = out + i / g.n * g.out_strides[0] + i % g.n * g.out_strides[1];
      for (int64_t j = 0; j < g.p; j++) to[j * g.out_strides[2]] = T(row[j]);
    }
  });
}

// A matrix times a vector: y[i] = sum_k m[i, k] * x[k] + bias[i]. All time goes into reading m once, which oneDNN's
// product, made for reuse, does at a third of the memory's speed, and OpenBLAS's at half of it.
template <class T> struct Gemv {
  int64_t rows, cols, row_stride, col_stride, x_stride, y_stride, bias_stride;
  const T *m, *x, *bias;  // bias may be null
  T* y;

  /// The product `g` as one: a row vector times a matrix is the transposed matrix times a column.
  Gemv(const Gemm& g, const T* a, const T* w, const T* b, T* out) : bias(b), y(out) {
    if (g.n == 1) rows = g.p, row_stride = g.w_strides[2], col_stride = g.w_strides[1], m = w, x = a, x_stride = g.a_strides[2];
    else rows = g.n, row_stride = g.a_strides[1], col_stride = g.a_strides[2], m = a, x = w, x_stride = g.w_strides[1];
    cols = g.m, y_stride = g.out_strides[g.n == 1 ? 2 : 1], bias_stride = g.n == 1 ? 1 : 0;
  }
  bool dense() const { return row_stride == 1 || col_stride == 1; }
  T bias_at(int64_t i) const { return bias ? bias[i * bias_stride] : 0; }
};

constexpr int64_t kLines = 4;    // lines of the matrix read side by side
constexpr int64_t kPart = 1024;  // outputs that stay in the first-level cache while lines are added

// Rows are dense: kLines dot products at a time share the loads of x.
template <class T> void gemv_dots(const Gemv<T>& g, const T* x, int64_t begin, int64_t end) {
  using V = Vec<T>;
  for (int64_t i = begin; i < end; i += kLines) {
    int64_t n = std::min(kLines, end - i), k = 0;
    const T* line[kLines];
    V acc[kLines];
    for (int64_t r = 0; r < kLines; r++) line[r] = g.m + (i + std::min(r, n - 1)) * g.row_stride, acc[r] = V(0);
    for (; k + V::size <= g.cols; k += V::size) {
      V v = V::load(x + k);
      for (int64_t r = 0; r < kLines; r++) acc[r] = acc[r] + V::load(line[r] + k) * v;
    }
    for (int64_t r = 0; r < n; r++) {
      T sum = sum_lanes(acc[r]);
      for (int64_t j = k; j < g.cols; j++) sum += line[r][j] * x[j];
      g.y[(i + r) * g.y_stride] = sum + g.bias_at(i + r);
    }
  }
}

// Columns are dense: a part of y stays in cache while kLines columns at a time are added to it.
template <class T> void gemv_columns(const Gemv<T>& g, const T* x, int64_t begin, int64_t end) {
  T part[kPart];
  for (int64_t b = begin; b < end; b += kPart) {
    int64_t n = std::min(kPart, end - b), k = 0;
    for (int64_t i = 0; i < n; i++) part[i] = g.bias_at(b + i);
    const T* m = g.m + b;
    for (; k + kLines <= g.cols; k += kLines) {
      const T *c0 = m + k * g.col_stride, *c1 = c0 + g.col_stride, *c2 = c1 + g.col_stride, *c3 = c2 + g.col_stride;
      const T x0 = x[k], x1 = x[k + 1], x2 = x[k + 2], x3 = x[k + 3];
#pragma omp simd
      for (int64_t i = 0; i < n; i++) part[i] += (c0[i] * x0 + c1[i] * x1) + (c2[i] * x2 + c3[i] * x3);
    }
    for (; k < g.cols; k++)
      for (int64_t i = 0; i < n; i++) part[i] += m[k * g.col_stride + i] * x[k];
    for (int64_t i = 0; i < n; i++) g.y[(b + i) * g.y_stride] = part[i];
  }
}

// Rows of a few numbers, which the compiler counts.
template <int N, class T> void gemv_short(const Gemv<T>& g, const T* x, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; i++) {
    T sum = g.bias_at(i);
    for (int k = 0; k < N; k++) sum += g.m[i * g.row_stride + k] * x[k];
    g.y[i * g.y_stride] = sum;
  }
}

template <class T> void gemv(const Gemv<T>& g) {
  using Part = void (*)(const Gemv<T>&, const T*, int64_t, int64_t);
  constexpr Part kShortRows[] = {gemv_short<1, T>, gemv_short<2, T>, gemv_short<3, T>, gemv_short<4, T>, gemv_short<5, T>, gemv_short<6, T>, gemv_short<7, T>, gemv_short<8, T>};
  std::vector<T> dense;
  const T* x = g.x;
  if (g.x_stride != 1) {
    dense.resize(g.cols);
    convert(dtype_of<T>(), g.x, g.x_stride, dtype_of<T>(), dense.data(), 1, g.cols);
    x = dense.data();
  }
  const Part part = g.col_stride != 1 ? gemv_columns<T> : g.cols <= int64_t(std::size(kShortRows)) ? kShortRows[g.cols - 1] : gemv_dots<T>;
  parallel_for(g.rows, std::max<int64_t>(16, kGrain / g.cols), [&](int64_t b, int64_t e) { part(g, x, b, e); });
}

using V = Vec<float>;

// At most kLines rows times as many columns, all dense along a long sum: every line is read once. Parts of it are as many as threads may
// share, whatever their number, and are added in order.
constexpr int64_t kLongSum = 1 << 14, kSumParts = 16;
template <int kRows, int kColumns> void few_dots(const Gemm& g, const float* a, const float* w, const float* bias, float* out) {
  double sums[kSumParts][kRows][kColumns] = {};
  const int64_t m = (g.m / kSumParts + V::size - 1) / V::size * V::size;
  parallel_for(kSumParts, kGrain / m, [&](int64_t begin, int64_t end) {
    for (int64_t part = begin; part < end; part++) {
      const int64_t first = std::min(part * m, g.m), last = part + 1 == kSumParts ? g.m : std::min(first + m, g.m);
      const float *row[kRows], *column[kColumns];
      for (int64_t r = 0; r < kRows; r++) row[r] = a + std::min(r, g.n - 1) * g.a_strides[1];
      for (int64_t r = 0; r < kColumns; r++) column[r] = w + std::min(r, g.p - 1) * g.w_strides[2];
      V acc[kRows][kColumns];
      for (auto& line : acc) std::fill_n(line, kColumns, V(0));
      int64_t k = first;
      for (; k + V::size <= last; k += V::size)
#pragma GCC unroll 4
        for (int64_t i = 0; i < kRows; i++) {
          const V x = V::load(row[i] + k);
#pragma GCC unroll 4
          for (int64_t j = 0; j < kColumns; j++) acc[i][j] = fma(x, V::load(column[j] + k), acc[i][j]);
        }
      for (int64_t i = 0; i < kRows; i++)
        for (int64_t j = 0; j < kColumns; j++) {
          double sum = sum_lanes(acc[i][j]);
          for (int64_t l = k; l < last; l++) sum += double(row[i][l]) * column[j][l];
          sums[part][i][j] = sum;
        }
    }
  });
  for (int64_t i = 0; i < g.n; i++)
    for (int64_t j = 0; j < g.p; j++) {
      double sum = bias ? bias[j] : 0;
      for (auto& part : sums) sum += part[i][j];
      out[i * g.out_strides[1] + j * g.out_strides[2]] = float(sum);
    }
}
void few_dots(const Gemm& g, const float* a, const float* w, const float* bias, float* out) {
  if (g.n == 1 && g.p == 1) few_dots<1, 1>(g, a, w, bias, out);
  else if (g.n == 1) few_dots<1, kLines>(g, a, w, bias, out);
  else if (g.p == 1) few_dots<kLines, 1>(g, a, w, bias, out);
  else few_dots<kLines, kLines>(g, a, w, bias, out);
}

// A column times a row, along the rows of the result but where these are shorter than a vector.
void outer_product(Gemm g, const float* a, const float* w, float* out) {
  if (g.p < std::min<int64_t>(g.n, V::size)) {
    std::swap(a, w);
    g = turned(g);
  }
  const int64_t across = g.out_strides[2], step = g.w_strides[2];
  parallel_for(g.n, kGrain / g.p, [&](int64_t b, int64_t e) {
    for (int64_t i = b; i < e; i++) {
      const float x = a[i * g.a_strides[1]];
      float* to = out + i * g.out_strides[1];
      if (across == 1 && step == 1) for (int64_t j = 0; j < g.p; j++) to[j] = x * w[j];
      else for (int64_t j = 0; j < g.p; j++) to[j * across] = x * w[j * step];
    }
  });
}

// Products that fit the first-level cache, for which oneDNN would take as long to set up.
bool in_first_cache(const Gemm& g) { return in_blocks<float>(g) && g.n >= kBlockRows && g.p >= 2 * V::size && g.n * g.m * g.p <= 80 * 80 * 80 && g.m * g.p <= 6400; }
bool in_first_cache_if_copied(Gemm g) { return g.batch > 1 && (g.w_strides[2] = 1, in_first_cache(g)); }

// At most kLines rows of few factors: along them, a few registers of columns of all rows at a time.
constexpr int64_t kWide = 4 * Vec<float>::size;
void few_rows(const Gemm& g, const float* a, const float* w, const float* bias, float* out) {
  auto strip = [&]<int R>(std::integral_constant<int, R>) {
    const int64_t blocks = g.p / kWide;
    parallel_for(blocks, kGrain / (kWide * g.n), [&](int64_t begin, int64_t end) {
      for (int64_t j = begin; j < end; j++) product_block<R, 4>(g, a, w, bias, out, 0, j * kWide);
      if (end == blocks && g.p % kWide) product_block<R, 4>(g, a, w, bias, out, 0, g.p - kWide);
    });
  };
  switch (g.n) {
    case 1: return strip(std::integral_constant<int, 1>{});
    case 2: return strip(std::integral_constant<int, 2>{});
    case 3: return strip(std::integral_constant<int, 3>{});
    default: return strip(std::integral_constant<int, 4>{});
  }
}

// oneDNN takes a matrix whose rows or columns are dense and do not overlap.
bool plain_layout(int64_t rows, int64_t cols, const Dims& s) {
  return (s[2] == 1 && s[1] >= std::max<int64_t>(cols, 1)) || (s[1] == 1 && s[2] >= std::max<int64_t>(rows, 1));
}
// A stride of an axis of size 1 is arbitrary: give oneDNN a canonical one.
Dims canonical(const Dims& sizes, Dims s) {
  if (sizes[2] == 1 && s[1] != 1) s[2] = 1;
  if (sizes[1] == 1) s[1] = std::max<int64_t>(sizes[2] * s[2], 1);
  if (sizes[0] == 1) s[0] = std::max<int64_t>({sizes[1] * s[1], sizes[2] * s[2], 1});
  return s;
}

struct MatmulEntry {
  dnnl::matmul primitive;
  Md a, w, bias, out;
};

void onednn_gemm(const Gemm& g, DType type, const void* a, const void* w, const void* bias, void* out) {
  Dims as{g.batch, g.n, g.m}, ws{g.batch, g.m, g.p}, os{g.batch, g.n, g.p};
  Dims at = canonical(as, g.a_strides), wt = canonical(ws, g.w_strides), ot = canonical(os, g.out_strides);
  Key key('m');
  key << as << g.p << at << wt << ot << int64_t(type) << int64_t(bias != nullptr) << int64_t(omp_get_max_threads());
  auto& entry = cached<MatmulEntry>(key, [&] {
    MatmulEntry e;
    bool flat = g.batch == 1;  // 2-d products have faster kernels
    auto md = [&](Dims sizes, Dims strides) {
      // One matrix for the whole batch is a batch of one: as a stride of 0 oneDNN leaves it to its reference, a thousand times as slow.
      if (strides[0] == 0) sizes[0] = 1, strides = canonical(sizes, strides);
      return flat ? describe(Dims{sizes[1], sizes[2]}, Dims{strides[1], strides[2]}, type) : describe(sizes, strides, type);
    };
    e.a = md(as, at), e.w = md(ws, wt), e.out = md(os, ot);
    if (bias) e.bias = flat ? describe(Dims{1, g.p}, Dims{g.p, 1}, type) : describe(Dims{1, 1, g.p}, Dims{g.p, g.p, 1}, type);
    dnnl::matmul::primitive_desc pd = bias ? dnnl::matmul::primitive_desc(onednn_engine(), e.a, e.w, e.bias, e.out)
                                           : dnnl::matmul::primitive_desc(onednn_engine(), e.a, e.w, e.out);
    e.primitive = dnnl::matmul(pd);
    return e;
  });
  Arguments args;
  args.add(DNNL_ARG_SRC, wrap_memory(entry.a, const_cast<void*>(a))).add(DNNL_ARG_WEIGHTS, wrap_memory(entry.w, const_cast<void*>(w)));
  args.add(DNNL_ARG_DST, wrap_memory(entry.out, out));
  if (bias) args.add(DNNL_ARG_BIAS, wrap_memory(entry.bias, const_cast<void*>(bias)));
  args.run(entry.primitive);
}

// oneDNN copies W across its rows, and A across its columns where these are dense, at half its speed where such lines lie multiples of 2 KiB
// apart and so share sets of the cache. Our packing reads along lines; elsewhere, and for less work, oneDNN is faster.
bool packs_better(const Gemm& g) {
  constexpr int64_t kAlias = 1024, kLeast = 256;
  auto aliased = [](const Dims& s, int dense) { return s[dense] == 1 && s[3 - dense] % kAlias == 0; };
  return std::min({g.n, g.m, g.p}) >= kLeast && g.out_strides[2] == 1 && (aliased(g.w_strides, 2) || aliased(g.a_strides, 1));
}

// A copy even of a row-major tensor: its strides along axes of size 1 may be what oneDNN refuses.
Tensor fresh(const Tensor& t) { return copied(t, Meta(t.sizes(), t.dtype())); }
// In the layout that it has: a transposed weight would cost a transposition beside the cast.
Tensor as_type(const Tensor& t, DType type) {
  const bool dense = is_non_overlapping_and_dense(t.sizes(), t.strides());
  return copied(t, dense ? Meta(t.sizes(), t.strides(), type, t.device()) : Meta(t.sizes(), type));
}

// Lines of a matrix that lie a multiple of a kilobyte apart share a few sets of the first-level cache. oneDNN's products of
// AVX2 read W across its rows, and a transposed A across its columns, at half their speed then: a copy with space between
// the lines costs less, where each number is used often enough. Its AVX-512 kernels copy by themselves.
#ifdef __AVX512F__
constexpr int64_t kOften = std::numeric_limits<int64_t>::max();
#else
constexpr int64_t kOften = 24;
#endif
Tensor spaced(const Tensor& t, int across, int64_t uses) {
  constexpr int64_t kAlias = 256, kSpace = 16;  // floats
  const int line = t.ndim() - 2 + (1 - across), step = t.ndim() - 2 + across;
  if (uses < kOften || t.strides()[line] != 1 || t.strides()[step] % kAlias || t.sizes()[step] < 8) return t;
  Dims strides(t.ndim(), 1);
  strides[step] = t.sizes()[line] + kSpace;
  if (t.ndim() == 3) strides[0] = strides[step] * t.sizes()[step];
  return copied(t, Meta(t.sizes(), strides, t.dtype(), t.device()));
}

Dims three(const Tensor& t) {
  return t.ndim() == 3 ? t.strides() : Dims{t.numel(), t.strides()[0], t.strides()[1]};
}

// A matrix as BLAS takes it, seen column by column: `dense` when one of its axes is; a dense row is a transposed column.
struct Side {
  char turn;
  int ld;
};
bool dense_side(int64_t rows, int64_t cols, const Dims& s) { return plain_layout(rows, cols, canonical(Dims{1, rows, cols}, s)); }
Side side_of(int64_t rows, int64_t cols, const Dims& given) {
  Dims s = canonical(Dims{1, rows, cols}, given);
  if (s[2] == 1 && s[1] >= std::max<int64_t>(cols, 1)) return {'N', as_int(s[1])};
  return {'T', as_int(s[2])};
}

// By BLAS, for float64 and complex numbers. It sees the transposed product, since our results lie row by row. Batches, or
// strips of rows where there is one product only, are shared among our threads.
template <class T> void blas_product(const Gemm& g, const T* a, const T* w, const T* bias, T* out) {
  openblas();
  const int m = as_int(g.m), p = as_int(g.p);
  Side left = side_of(g.n, g.m, g.a_strides), right = side_of(g.m, g.p, g.w_strides);
  const int ldo = as_int(canonical(Dims{1, g.n, g.p}, g.out_strides)[1]);
  const int64_t row = left.turn == 'N' ? left.ld : 1, column = right.turn == 'N' ? 1 : right.ld;
  if (g.batch == 1 && g.n < 16 && g.p >= 64)  // few rows: strips of columns, else one thread would read the whole matrix
    return parallel_for(g.p, std::max<int64_t>(32, kGrain * 2 / std::max<int64_t>(g.m * g.n, 1)), [&](int64_t b, int64_t e) {
      for (int64_t r = 0; bias && r < g.n; r++) std::copy_n(bias + b, e - b, out + r * ldo + b);
      blas_gemm<T>(right.turn, left.turn, as_int(e - b), as_int(g.n), m, T(1), w + b * column, right.ld, a, left.ld, T(bias ? 1 : 0),
                   out + b, ldo);
    });
  parallel_for(g.batch * g.n, kGrain * 8 / std::max<int64_t>(g.m * g.p, 1), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end;) {  // rows of one product at a time
      int64_t b = i / g.n, first = i % g.n, count = std::min(g.n - first, end - i);
      T* to = out + b * g.out_strides[0] + first * ldo;
      if (bias)
        for (int64_t r = 0; r < count; r++) std::copy_n(bias, p, to + r * ldo);
      blas_gemm<T>(right.turn, left.turn, p, as_int(count), m, T(1), w + b * g.w_strides[0], right.ld,
                   a + b * g.a_strides[0] + first * row, left.ld, T(bias ? 1 : 0), to, ldo);
      i += count;
    }
  });
}

}  // namespace

void gemm(Tensor a, Tensor w, Tensor bias, const Tensor& out) {
  if (out.numel() == 0) return;
  int d = a.ndim() - 2;
  Gemm g{d ? a.sizes()[0] : 1, a.sizes()[d], a.sizes()[d + 1], w.sizes()[d + 1], {}, {}, three(out)};
  DType type = out.dtype();
  bool small = g.batch * g.n * g.m * g.p <= kSmallProduct;
  // Half precision has no kernels on every CPU.
  if (type == DType::float16 || (type == DType::bfloat16 && !small && !onednn_computes(type))) {
    Tensor wide = empty(out.sizes(), DType::float32);
    gemm(as_type(a, DType::float32), as_type(w, DType::float32), bias ? as_type(bias, DType::float32) : bias, wide);
    return run_copy(wide, out);
  }
  g.a_strides = three(a), g.w_strides = three(w);
  if (!small && type == DType::float32 && g.batch == 1 && g.m == 1 && !bias)
    return outer_product(g, a.data<float>(), w.data<float>(), out.data<float>());
  if (!small && !bias && is_small_product(g)) {
    if (type == DType::float32 && !in_first_cache(g)) return small_products(g, a.data<float>(), w.data<float>(), out.data<float>());
    if (type == DType::float64) return small_products(g, a.data<double>(), w.data<double>(), out.data<double>());
  }
  if (!small && (type == DType::float32 || type == DType::bfloat16) && g.m > 0) {
    if (!plain_layout(g.n, g.m, canonical(Dims{g.batch, g.n, g.m}, three(a)))) a = fresh(a);
    if (!plain_layout(g.m, g.p, canonical(Dims{g.batch, g.m, g.p}, three(w)))) w = fresh(w);
    g.a_strides = three(a), g.w_strides = three(w);
    if (bias) bias = row_major(bias);
    if (g.batch == 1 && g.n <= kLines && g.p <= kLines && g.m >= kLongSum && g.a_strides[2] == 1 && g.w_strides[1] == 1 && type == DType::float32)
      return few_dots(g, a.data<float>(), w.data<float>(), bias ? bias.data<float>() : nullptr, out.data<float>());
    if (g.batch == 1 && (g.n == 1 || g.p == 1) && type == DType::float32) {
      const Gemv v(g, a.data<float>(), w.data<float>(), bias ? bias.data<float>() : nullptr, out.data<float>());
      if (v.dense()) return gemv(v);
    }
    // Few rows of few factors: oneDNN would pack more than it multiplies.
    if (g.batch == 1 && g.n <= kLines && g.m <= 4 * kLines && g.w_strides[2] == 1 && g.out_strides[2] == 1 && g.p >= kWide && type == DType::float32)
      return few_rows(g, a.data<float>(), w.data<float>(), bias ? bias.data<float>() : nullptr, out.data<float>());
    if (type == DType::float32 && g.w_strides[2] != 1 && in_first_cache_if_copied(g)) w = fresh(w), g.w_strides = three(w);
    if (type == DType::float32 && in_first_cache(g)) return block_product(g, a.data<float>(), w.data<float>(), bias ? bias.data<float>() : nullptr, out.data<float>());
    if (type == DType::float32) {
      w = spaced(w, 0, g.n), a = spaced(a, 1, g.p);
      g.a_strides = three(a), g.w_strides = three(w);
    }
    if (type == DType::bfloat16 && packs_better(g) && has_tiles())
      return tile_gemm(g, a.data<BFloat16>(), w.data<BFloat16>(), bias ? bias.data<BFloat16>() : nullptr, out.data<BFloat16>());
    if (g.batch > 1 && g.a_strides[0] == 0 && g.w_strides[0] == 0) w = fresh(w), g.w_strides = three(w);  // oneDNN repeats one of the two
    return onednn_gemm(g, type, a.raw(), w.raw(), bias ? bias.raw() : nullptr, out.raw());
  }
  if (type == DType::float64 || is_complex(type)) {
    if (!dense_side(g.n, g.m, three(a))) a = fresh(a);
    if (!dense_side(g.m, g.p, three(w))) w = fresh(w);
    g.a_strides = three(a), g.w_strides = three(w);
    if (bias) bias = row_major(bias);
    if (!small && type == DType::float64 && g.batch == 1 && (g.n == 1 || g.p == 1) && g.m > 0) {
      const Gemv v(g, a.data<double>(), w.data<double>(), bias ? bias.data<double>() : nullptr, out.data<double>());
      if (v.dense()) return gemv(v);
    }
    return visit_lapack_dtype("matmul", type, [&]<class T>(TypeTag<T>) {
      blas_product<T>(g, a.data<T>(), w.data<T>(), bias ? bias.data<T>() : nullptr, out.data<T>());
    });
  }
  if (bias) bias = row_major(bias);
  auto run = [&]<class T, class Acc>(TypeTag<T>, TypeTag<Acc>) {
    plain_gemm<T, Acc>(g, a.data<T>(), w.data<T>(), bias ? bias.data<T>() : nullptr, out.data<T>());
  };
  switch (type) {
    case DType::float32: return run(TypeTag<float>{}, TypeTag<double>{});
    case DType::bfloat16: return run(TypeTag<BFloat16>{}, TypeTag<float>{});
    case DType::int64: return run(TypeTag<int64_t>{}, TypeTag<int64_t>{});
    case DType::int32: return run(TypeTag<int32_t>{}, TypeTag<int32_t>{});
    case DType::int16: return run(TypeTag<int16_t>{}, TypeTag<int32_t>{});
    case DType::int8: return run(TypeTag<int8_t>{}, TypeTag<int32_t>{});
    case DType::uint8: return run(TypeTag<uint8_t>{}, TypeTag<int32_t>{});
    case DType::boolean:
      if (g.m == 0) return run_copy(wrapped_number(Scalar(false)), out);  // sums of nothing
      [[fallthrough]];
    default: throw NotImplemented(str("\"addmm_impl_cpu_\" not implemented for '", name_of(type), "'"));
  }
}

namespace {

template <class Op> void product(const Op&, Inputs in, Outputs out) { gemm(in[0], in[1], Tensor(), out[0]); }

void linear(const Linear&, Inputs in, Outputs out) {
  const Tensor &x = in[0], &w = in[1], &b = in[2];
  Tensor c = row_major(x);
  int64_t m = x.size(-1), p = w.ndim() == 2 ? w.sizes()[0] : 1, n = x.numel() / std::max<int64_t>(m, 1);
  if (m == 0) n = out[0].numel() / std::max<int64_t>(p, 1);
  Tensor rows = alias(c, Dims{n, m}, Dims{m, 1}, c->offset);
  Tensor wt = w.ndim() == 2 ? alias(w, Dims{m, p}, Dims{w.strides()[1], w.strides()[0]}, w->offset) : alias(w, Dims{m, 1}, Dims{w.strides()[0], 1}, w->offset);
  Tensor result = alias(out[0], Dims{n, p}, Dims{p, 1}, out[0]->offset);
  bool vector = b && b.ndim() == 1 && b.numel() == p && b.dtype() == x.dtype();
  gemm(rows, wt, vector ? b : Tensor(), result);
  if (b && !vector) add(out[0], b, out[0]);  // a bias of another shape that broadcasts, or of another dtype
}

}  // namespace

static const bool registered = [] {
  set_kernel<Mm, product<Mm>>(DeviceType::cpu);
  set_kernel<Bmm, product<Bmm>>(DeviceType::cpu);
  set_kernel<Linear, linear>(DeviceType::cpu);
  return true;
}();

}  // namespace WEIR_ISA
}  // namespace weir
