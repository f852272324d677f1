#include "framework/ops/attention.h"

#include <dnnl.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "framework/kernels/cpu/loops.h"
#include "framework/kernels/cpu/registers.h"
#include "framework/kernels/cpu/tiles.h"

namespace weir {
namespace WEIR_ISA {
namespace {

constexpr int64_t kQueries = 64, kKeys = 256;  // a block of scores fills a quarter of a second-level cache at most
constexpr int64_t kFewKeys = 8;  // up to so many, the mean slope of scores is taken over the keys: a single one's is then its own, and nothing is left
constexpr int64_t kLine = kKeys + 16;          // from row to row of a block: rows a kilobyte apart would share sets of the cache

// c = alpha op(a) op(b) + beta c of row-major matrices with leading dimensions.
void product(bool ta, bool tb, int64_t m, int64_t n, int64_t k, float alpha, const float* a, int64_t lda, const float* b, int64_t ldb, float beta,
             float* c, int64_t ldc) {
  if (m == 0 || n == 0) return;
  dnnl_sgemm(ta ? 'T' : 'N', tb ? 'T' : 'N', m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

// Elements of this dtype whose last axis is dense: the tensor itself where it is so.
Tensor dense_rows(const Tensor& t, DType dtype = DType::float32) {
  if (t.dtype() == dtype && t.strides()[3] == 1 && t.strides()[2] >= t.sizes()[3]) return t;
  return copied(t, Meta(t.sizes(), dtype));
}

// The mean of x with these weights, whose sum is 1 but for the rounding of large scores; 0 where all weights are.
float weighted_mean(const float* weights, const float* x, int64_t n) {
  float sum = 0, whole = 0;
  for (int64_t i = 0; i < n; i++) sum += weights[i] * x[i], whole += weights[i];
  return whole == 0 ? 0 : sum / whole;
}

// A result of this dtype whose rows are dense: `out` itself where it is so.
Tensor dense_result(const Tensor& out, DType dtype = DType::float32) {
  return out.dtype() == dtype && out.strides()[3] == 1 ? out : empty(out.sizes(), dtype);
}

template <class T> struct PlaneOf { T* data; int64_t ld; };
using Plane = PlaneOf<float>;
template <class T = float> PlaneOf<T> plane(const Tensor& t, int64_t n, int64_t h) {
  return {t.data<T>() + n * t.strides()[0] + h * t.strides()[1], t.strides()[2]};
}

// The sizes of a problem, and its mask.
struct Problem {
  int64_t batch, heads, groups, queries, keys, width, values;
  bool causal;
  float scale;
  Tensor mask;  // strides of 0 where it broadcasts

  template <class Op> Problem(const Op& op, const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& given) : batch(q.sizes()[0]),
      heads(q.sizes()[1]), groups(k.sizes()[1]), queries(q.sizes()[2]), keys(k.sizes()[2]), width(q.sizes()[3]), values(v.sizes()[3]),
      causal(op.is_causal), scale(float(op.scale)) {
    if (!given) return;
    Dims sizes{batch, heads, queries, keys}, strides(4, 0);
    for (int d = 4, e = given.ndim(); d-- > 0 && e-- > 0;) strides[d] = given.sizes()[e] == 1 ? 0 : given.strides()[e];
    mask = alias(given, sizes, strides, given->offset);
  }

  int64_t last_key(int64_t first_query, int64_t count) const { return causal ? std::min(keys, first_query + count) : keys; }

  // scale q k^T + mask for a block, in s (rows of kLine).
  void scores(Plane q, Plane k, int64_t n, int64_t h, int64_t i, int64_t rows, int64_t j, int64_t columns, float* s) const {
    product(false, true, rows, columns, width, scale, q.data + i * q.ld, q.ld, k.data + j * k.ld, k.ld, 0, s, kLine);
    hide(n, h, i, rows, j, columns, s);
  }

  // Adds the mask to a block of scores.
  void hide(int64_t n, int64_t h, int64_t i, int64_t rows, int64_t j, int64_t columns, float* s) const {
    if (mask) {
      const Dims& st = mask.strides();
      const float* m = mask.data<float>() + n * st[0] + h * st[1] + i * st[2] + j * st[3];
      for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < columns; c++) s[r * kLine + c] += m[r * st[2] + c * st[3]];
    }
    if (causal && j + columns > i + 1)
      for (int64_t r = 0; r < rows; r++)
        for (int64_t c = std::max<int64_t>(0, i + r + 1 - j); c < columns; c++) s[r * kLine + c] = -INFINITY;
  }
};

// x = exp(scale x - shift) over n numbers; their sum.
float exponentials(float* x, int64_t n, float scale, float shift) {
  constexpr int64_t w = Vec<float>::size;
  const Vec<float> by(scale), less(shift);
  Vec<float> sums(0.0f);
  int64_t i = 0;
  for (; i + w <= n; i += w) {
    const Vec<float> e = exp(Vec<float>::load(x + i) * by - less);
    e.store(x + i);
    sums = sums + e;
  }
  if (i < n) store(exp(load(x + i, int(n - i)) * by - less), x + i, int(n - i));
  return sum_lanes(sums) + sum_of(x + i, n - i);
}

// The softmax of a block of queries, while blocks of keys go by: for each row the largest score so far and the sum of exponentials.
struct RunningSoftmax {
  float top[kQueries], sum[kQueries];
  RunningSoftmax() { std::fill_n(top, kQueries, -INFINITY), std::fill_n(sum, kQueries, 0.0f); }

  /// Turns scores of row r, which are still to be multiplied by `scale` (positive), into exponentials; of what was summed before, in `acc`,
  /// the share that stays is kept.
  void take(int64_t r, float* scores, int64_t columns, float scale, float* acc, int64_t values) {
    float before = top[r], high = largest_of(scores, columns) * scale;
    high = high > before || high != high ? high : before;
    if (high == -INFINITY) {  // nothing seen so far
      std::fill_n(scores, columns, 0.0f);
      return;
    }
    float faded = std::exp(before - high);
    sum[r] = sum[r] * faded + exponentials(scores, columns, scale, high);
    top[r] = high;
    if (faded != 1)
      for (int64_t c = 0; c < values; c++) acc[c] *= faded;
  }
  bool blind(int64_t r) const { return top[r] == -INFINITY; }
  float share(int64_t r) const { return blind(r) ? 0 : 1 / sum[r]; }
  float log_sum(int64_t r) const { return blind(r) ? INFINITY : top[r] + std::log(sum[r]); }
};

// Where the CPU has tiles, bfloat16 needs no copies in float32.
bool fits_tiles(Inputs in) {
  return in[0].dtype() == DType::bfloat16 && in[1].dtype() == DType::bfloat16 && in[2].dtype() == DType::bfloat16 && has_tiles();
}

// A factor packed whole.
struct Whole : Panels {
  Whole(int64_t lines, int64_t depth) : Panels(tile_panels(lines), tile_steps(depth)) {}
  void left(const Factor& x) {
    for (int64_t i = 0; i < tile_panels(x.lines); i++) pack_left(x, i, 0, tile_steps(x.depth), at(i));
  }
  void right(const Factor& x) {
    for (int64_t i = 0; i < tile_panels(x.lines); i++) pack_right(x, i, 0, tile_steps(x.depth), at(i));
  }
};

// Lines [first, first + count) of a right factor, and of the summed axis what begins at `depth`.
struct Part {
  const Panels& of;
  int64_t first, count, depth, length;
};
// c (rows `ld` apart) = or += the first `rows` lines of a left factor times a part of a right one.
void multiply(const Panels& a, int64_t rows, const Part& b, float* c, int64_t ld, bool add) {
  for (int64_t i = 0; i < tile_panels(rows); i++)
    for (int64_t j = 0; j < tile_panels(b.count); j++)
      multiply_panels(a.at(i), b.of.at(b.first / kTileLines + j, b.depth / kTileDepth), tile_steps(b.length), c + i * kTileLines * ld + j * kTileLines, ld, add);
}
int64_t whole_panels(int64_t lines) { return tile_panels(lines) * kTileLines; }

// A block of queries and of keys by tiles: scores before they are scaled.
struct Scores {
  const Problem& p;
  Whole keys, queries;
  std::vector<float> s;

  explicit Scores(const Problem& p) : p(p), keys(p.keys, p.width), queries(kQueries, p.width), s(kQueries * kLine) {}
  float* row(int64_t r) { return s.data() + r * kLine; }
  /// Computes and masks them. Returns what they are still to be multiplied by: a mask is added to what has been scaled.
  float compute(int64_t n, int64_t h, int64_t i, int64_t rows, int64_t j, int64_t columns) {
    multiply(queries, rows, {keys, j, columns, 0, p.width}, s.data(), kLine, false);
    const bool later = !p.mask && p.scale > 0;
    for (int64_t r = 0; !later && r < rows; r++) map(row(r), row(r), columns, [by = Vec<float>(p.scale)](Vec<float> x) { return x * by; });
    p.hide(n, h, i, rows, j, columns, s.data());
    return later ? p.scale : 1;
  }
};
Factor rows_of(PlaneOf<BFloat16> x, int64_t first, int64_t lines, int64_t width) { return {x.data + first * x.ld, lines, width, x.ld, 1}; }
Factor columns_of(PlaneOf<BFloat16> x, int64_t first, int64_t lines, int64_t width) { return {x.data + first * x.ld, width, lines, 1, x.ld}; }

void forward_by_tiles(const FlashAttention& op, Inputs in, Outputs out) {
  Tensor q = dense_rows(in[0], DType::bfloat16), k = dense_rows(in[1], DType::bfloat16), v = dense_rows(in[2], DType::bfloat16), y = dense_result(out[0], DType::bfloat16);
  const Problem p(op, q, k, v, in[3]);
  Tensor log_sums = out[1].is_contiguous() ? out[1] : empty(out[1].sizes(), DType::float32);
  const int64_t blocks = (p.queries + kQueries - 1) / kQueries, repeat = p.heads / p.groups, line = whole_panels(p.values);
  parallel_for(p.batch * p.heads * blocks, 1, [&](int64_t b, int64_t e) {
    Tiles tiles;
    Scores scores(p);
    Whole values(p.values, p.keys), shares(kQueries, kKeys);
    std::vector<float> acc(kQueries * line);
    for (int64_t block = b, packed = -1; block < e; block++) {
      const int64_t n = block / blocks / p.heads, h = block / blocks % p.heads, i = block % blocks * kQueries, rows = std::min(kQueries, p.queries - i);
      if (int64_t group = n * p.groups + h / repeat; group != packed) {
        scores.keys.right(rows_of(plane<BFloat16>(k, n, h / repeat), 0, p.keys, p.width));
        values.right(columns_of(plane<BFloat16>(v, n, h / repeat), 0, p.keys, p.values));
        packed = group;
      }
      scores.queries.left(rows_of(plane<BFloat16>(q, n, h), i, rows, p.width));
      RunningSoftmax softmax;
      std::fill(acc.begin(), acc.end(), 0.0f);
      for (int64_t j = 0, end = p.last_key(i, rows); j < end; j += kKeys) {
        const int64_t columns = std::min(kKeys, end - j);
        const float scale = scores.compute(n, h, i, rows, j, columns);
        for (int64_t r = 0; r < rows; r++) {
          softmax.take(r, scores.row(r), columns, scale, acc.data() + r * line, p.values);
          pack_left_row(scores.row(r), columns, r % kTileLines, shares.steps, shares.at(r / kTileLines));
        }
        multiply(shares, rows, {values, 0, p.values, j, columns}, acc.data(), line, true);
      }
      PlaneOf<BFloat16> to = plane<BFloat16>(y, n, h);
      for (int64_t r = 0; r < rows; r++) {
        float* row = acc.data() + r * line;
        map(row, row, p.values, [by = Vec<float>(softmax.share(r))](Vec<float> x) { return x * by; });
        round_to_bfloat16(row, p.values, to.data + (i + r) * to.ld);
        log_sums.data<float>()[(n * p.heads + h) * p.queries + i + r] = softmax.log_sum(r);
      }
    }
  });
  if (!(y == out[0])) run_copy(y, out[0]);
  if (!(log_sums == out[1])) run_copy(log_sums, out[1]);
}

void forward(const FlashAttention& op, Inputs in, Outputs out) {
  if (fits_tiles(in)) return forward_by_tiles(op, in, out);
  Tensor q = dense_rows(in[0]), k = dense_rows(in[1]), v = dense_rows(in[2]);
  const Problem p(op, q, k, v, in[3]);
  Tensor y = dense_result(out[0]);
  Tensor log_sums = out[1].is_contiguous() ? out[1] : empty(out[1].sizes(), DType::float32);
  const int64_t blocks = (p.queries + kQueries - 1) / kQueries;
  parallel_for(p.batch * p.heads * blocks, 1, [&](int64_t b, int64_t e) {
    std::vector<float> s(kQueries * kLine), acc(kQueries * p.values);
    for (int64_t block = b; block < e; block++) {
      int64_t n = block / blocks / p.heads, h = block / blocks % p.heads, i = block % blocks * kQueries, rows = std::min(kQueries, p.queries - i);
      Plane queries = plane(q, n, h), keys = plane(k, n, h / (p.heads / p.groups)), values = plane(v, n, h / (p.heads / p.groups));
      RunningSoftmax softmax;
      std::fill(acc.begin(), acc.end(), 0.0f);
      for (int64_t j = 0, end = p.last_key(i, rows); j < end; j += kKeys) {
        int64_t columns = std::min(kKeys, end - j);
        p.scores(queries, keys, n, h, i, rows, j, columns, s.data());
        for (int64_t r = 0; r < rows; r++) softmax.take(r, s.data() + r * kLine, columns, 1, acc.data() + r * p.values, p.values);
        product(false, false, rows, p.values, columns, 1, s.data(), kLine, values.data + j * values.ld, values.ld, 1, acc.data(), p.values);
      }
      Plane to = plane(y, n, h);
      for (int64_t r = 0; r < rows; r++) {
        for (int64_t c = 0; c < p.values; c++) to.data[(i + r) * to.ld + c] = acc[r * p.values + c] * softmax.share(r);
        log_sums.data<float>()[(n * p.heads + h) * p.queries + i + r] = softmax.log_sum(r);
      }
    }
  });
  if (!(y == out[0])) run_copy(y, out[0]);
  if (!(log_sums == out[1])) run_copy(log_sums, out[1]);
}

void backward_by_tiles(const FlashAttentionBackward& op, Inputs in, Outputs out) {
  constexpr DType kType = DType::bfloat16;
  Tensor dy = dense_rows(in[0], kType), q = dense_rows(in[1], kType), k = dense_rows(in[2], kType), v = dense_rows(in[3], kType), y = dense_rows(in[5], kType);
  Tensor log_sums = row_major(in[6]), d[3] = {dense_result(out[0], kType), dense_result(out[1], kType), dense_result(out[2], kType)};
  const Problem p(op, q, k, v, in[4]);
  const int64_t repeat = p.heads / p.groups, width = whole_panels(p.width), values = whole_panels(p.values), keys = whole_panels(p.keys);
  parallel_for(p.batch * p.groups, 1, [&](int64_t b, int64_t e) {
    Tiles tiles;
    Scores scores(p);
    Whole values_by_key(p.keys, p.values), keys_by_width(p.width, p.keys), given(kQueries, p.values), given_by_value(p.values, kQueries),
        queries_by_width(p.width, kQueries), turned(kKeys, kQueries), of_scores(kQueries, kKeys);
    std::vector<float> ds(kQueries * kLine), dq(kQueries * width), dk(keys * width), dv(keys * values);
    std::vector<BFloat16> rounded(kQueries * kLine);
    const PlaneOf<BFloat16> block{rounded.data(), kLine};
    for (int64_t item = b; item < e; item++) {
      const int64_t n = item / p.groups, g = item % p.groups;
      scores.keys.right(rows_of(plane<BFloat16>(k, n, g), 0, p.keys, p.width));
      keys_by_width.right(columns_of(plane<BFloat16>(k, n, g), 0, p.keys, p.width));
      values_by_key.right(rows_of(plane<BFloat16>(v, n, g), 0, p.keys, p.values));
      std::fill(dk.begin(), dk.end(), 0.0f), std::fill(dv.begin(), dv.end(), 0.0f);
      for (int64_t h = g * repeat; h < (g + 1) * repeat; h++) {
        const PlaneOf<BFloat16> from = plane<BFloat16>(q, n, h), grad = plane<BFloat16>(dy, n, h), made = plane<BFloat16>(y, n, h), to = plane<BFloat16>(d[0], n, h);
        const float* log_sum = log_sums.data<float>() + (n * p.heads + h) * p.queries;
        for (int64_t i = 0; i < p.queries; i += kQueries) {
          const int64_t rows = std::min(kQueries, p.queries - i);
          scores.queries.left(rows_of(from, i, rows, p.width)), queries_by_width.right(columns_of(from, i, rows, p.width));
          given.left(rows_of(grad, i, rows, p.values)), given_by_value.right(columns_of(grad, i, rows, p.values));
          float dot[kQueries] = {};  // the mean slope of each query's scores
          for (int64_t r = 0; r < rows && p.last_key(i, rows) > kFewKeys; r++)
            for (int64_t c = 0; c < p.values; c++) dot[r] += float(grad.data[(i + r) * grad.ld + c]) * float(made.data[(i + r) * made.ld + c]);
          std::fill(dq.begin(), dq.end(), 0.0f);
          for (int64_t j = 0, end = p.last_key(i, rows); j < end; j += kKeys) {
            const int64_t columns = std::min(kKeys, end - j);
            const float scale = scores.compute(n, h, i, rows, j, columns);
            for (int64_t r = 0; r < rows; r++) {
              exponentials(scores.row(r), columns, scale, log_sum[i + r]);
              round_to_bfloat16(scores.row(r), columns, rounded.data() + r * kLine);
            }
            turned.left(columns_of(block, 0, rows, columns));
            multiply(turned, columns, {given_by_value, 0, p.values, 0, rows}, dv.data() + j * values, values, true);
            multiply(given, rows, {values_by_key, j, columns, 0, p.values}, ds.data(), kLine, false);
            for (int64_t r = 0; r < rows; r++) {
              float* row = ds.data() + r * kLine;
              if (end <= kFewKeys) dot[r] = weighted_mean(scores.row(r), row, columns);
              for (int64_t c = 0; c < columns; c++) row[c] = scores.row(r)[c] * (row[c] - dot[r]) * p.scale;
              pack_left_row(row, columns, r % kTileLines, of_scores.steps, of_scores.at(r / kTileLines));
              round_to_bfloat16(row, columns, rounded.data() + r * kLine);
            }
            multiply(of_scores, rows, {keys_by_width, 0, p.width, j, columns}, dq.data(), width, true);
            turned.left(columns_of(block, 0, rows, columns));
            multiply(turned, columns, {queries_by_width, 0, p.width, 0, rows}, dk.data() + j * width, width, true);
          }
          for (int64_t r = 0; r < rows; r++) round_to_bfloat16(dq.data() + r * width, p.width, to.data + (i + r) * to.ld);
        }
      }
      const PlaneOf<BFloat16> to_keys = plane<BFloat16>(d[1], n, g), to_values = plane<BFloat16>(d[2], n, g);
      for (int64_t j = 0; j < p.keys; j++) {
        round_to_bfloat16(dk.data() + j * width, p.width, to_keys.data + j * to_keys.ld);
        round_to_bfloat16(dv.data() + j * values, p.values, to_values.data + j * to_values.ld);
      }
    }
  });
  for (int i = 0; i < 3; i++)
    if (!(d[i] == out[i])) run_copy(d[i], out[i]);
}

void backward(const FlashAttentionBackward& op, Inputs in, Outputs out) {
  if (fits_tiles(in.subspan(1))) return backward_by_tiles(op, in, out);
  Tensor dy = dense_rows(in[0]), q = dense_rows(in[1]), k = dense_rows(in[2]), v = dense_rows(in[3]), y = dense_rows(in[5]), log_sums = row_major(in[6]);
  const Problem p(op, q, k, v, in[4]);
  Tensor d[3];
  for (int i = 0; i < 3; i++) {
    d[i] = out[i].dtype() == DType::float32 ? out[i] : empty(out[i].sizes(), DType::float32);
    std::fill_n(d[i].data<float>(), d[i].numel(), 0.0f);
  }
  // Threads own groups of heads, which share keys and values.
  parallel_for(p.batch * p.groups, 1, [&](int64_t b, int64_t e) {
    std::vector<float> s(kQueries * kLine), ds(kQueries * kLine), dot(p.queries);
    for (int64_t item = b; item < e; item++) {
      int64_t n = item / p.groups, g = item % p.groups, repeat = p.heads / p.groups;
      Plane keys = plane(k, n, g), values = plane(v, n, g), dk = plane(d[1], n, g), dv = plane(d[2], n, g);
      for (int64_t h = g * repeat; h < (g + 1) * repeat; h++) {
        Plane queries = plane(q, n, h), given = plane(dy, n, h), made = plane(y, n, h), dq = plane(d[0], n, h);
        const float* log_sum = log_sums.data<float>() + (n * p.heads + h) * p.queries;
        for (int64_t i = 0; i < p.queries; i += kQueries) {
          int64_t rows = std::min(kQueries, p.queries - i);
          for (int64_t r = i; r < i + rows && p.last_key(i, rows) > kFewKeys; r++) {
            dot[r] = 0;
            for (int64_t c = 0; c < p.values; c++) dot[r] += given.data[r * given.ld + c] * made.data[r * made.ld + c];
          }
          for (int64_t j = 0, end = p.last_key(i, rows); j < end; j += kKeys) {
            int64_t columns = std::min(kKeys, end - j);
            p.scores(queries, keys, n, h, i, rows, j, columns, s.data());
            for (int64_t r = 0; r < rows; r++) exponentials(s.data() + r * kLine, columns, 1, log_sum[i + r]);
            product(true, false, columns, p.values, rows, 1, s.data(), kLine, given.data + i * given.ld, given.ld, 1, dv.data + j * dv.ld, dv.ld);
            product(false, true, rows, columns, p.values, 1, given.data + i * given.ld, given.ld, values.data + j * values.ld, values.ld, 0, ds.data(), kLine);
            for (int64_t r = 0; r < rows; r++) {
              if (end <= kFewKeys) dot[i + r] = weighted_mean(s.data() + r * kLine, ds.data() + r * kLine, columns);
              for (int64_t c = 0; c < columns; c++) ds[r * kLine + c] = s[r * kLine + c] * (ds[r * kLine + c] - dot[i + r]) * p.scale;
            }
            product(false, false, rows, p.width, columns, 1, ds.data(), kLine, keys.data + j * keys.ld, keys.ld, 1, dq.data + i * dq.ld, dq.ld);
            product(true, false, columns, p.width, rows, 1, ds.data(), kLine, queries.data + i * queries.ld, queries.ld, 1, dk.data + j * dk.ld, dk.ld);
          }
        }
      }
    }
  });
  for (int i = 0; i < 3; i++)
    if (!(d[i] == out[i])) run_copy(d[i], out[i]);
}

const bool bound = [] {
  set_kernel<FlashAttention, forward>(DeviceType::cpu);
  set_kernel<FlashAttentionBackward, backward>(DeviceType::cpu);
  return true;
}();

}  // namespace
}  // namespace WEIR_ISA
}  // namespace weir
