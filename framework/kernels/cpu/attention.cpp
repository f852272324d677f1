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

  /// Turns scores of row r, which are still to be multiplied by `scale` (not negative), into exponentials; of what was summed before, in `acc`,
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

// Keys and values of one head as right factors, and a block of queries and its probabilities as left ones.
struct TileBuffers {
  int64_t width_steps, key_steps, value_panels;
  Tensor numbers;
  BFloat16 *keys, *values, *queries, *shares;

  explicit TileBuffers(const Problem& p) : width_steps(tile_steps(p.width)), key_steps(tile_steps(p.keys)), value_panels(tile_panels(p.values)) {
    const int64_t of_keys = tile_panels(p.keys) * width_steps, of_values = value_panels * key_steps, of_queries = kQueries / kTileLines * width_steps;
    numbers = empty(Dims{(of_keys + of_values + of_queries + kQueries * kKeys / kTileStep) * kTileStep}, DType::bfloat16);
    keys = numbers.data<BFloat16>();
    values = keys + of_keys * kTileStep, queries = values + of_values * kTileStep, shares = queries + of_queries * kTileStep;
  }
  void pack_head(PlaneOf<BFloat16> k, PlaneOf<BFloat16> v, const Problem& p) {
    for (int64_t i = 0; i < tile_panels(p.keys); i++) pack_right({k.data, p.keys, p.width, k.ld, 1}, i, 0, width_steps, keys + i * width_steps * kTileStep);
    for (int64_t i = 0; i < value_panels; i++) pack_right({v.data, p.values, p.keys, 1, v.ld}, i, 0, key_steps, values + i * key_steps * kTileStep);
  }
  void pack_queries(PlaneOf<BFloat16> q, int64_t i, int64_t rows, int64_t width) {
    for (int64_t panel = 0; panel < tile_panels(rows); panel++)
      pack_left({q.data + i * q.ld, rows, width, q.ld, 1}, panel, 0, width_steps, queries + panel * width_steps * kTileStep);
  }
  /// Row r of probabilities, zeros behind `columns` of them.
  void pack_shares(int64_t r, const float* row, int64_t columns) {
    constexpr int64_t steps = kKeys / kTileDepth;
    pack_left_row(row, columns, r % kTileLines, steps, shares + r / kTileLines * steps * kTileStep);
  }
};

void forward_by_tiles(const FlashAttention& op, Inputs in, Outputs out) {
  Tensor q = dense_rows(in[0], DType::bfloat16), k = dense_rows(in[1], DType::bfloat16), v = dense_rows(in[2], DType::bfloat16);
  const Problem p(op, q, k, v, in[3]);
  const bool direct = out[0].dtype() == DType::bfloat16 && out[0].strides()[3] == 1;
  Tensor y = direct ? out[0] : empty(out[0].sizes(), DType::bfloat16);
  Tensor log_sums = out[1].is_contiguous() ? out[1] : empty(out[1].sizes(), DType::float32);
  const int64_t blocks = (p.queries + kQueries - 1) / kQueries, repeat = p.heads / p.groups;
  parallel_for(p.batch * p.heads * blocks, 1, [&](int64_t b, int64_t e) {
    Tiles tiles;
    TileBuffers packed(p);
    const int64_t line = packed.value_panels * kTileLines;
    std::vector<float> s(kQueries * kLine), acc(kQueries * line);
    for (int64_t block = b, head = -1; block < e; block++) {
      const int64_t n = block / blocks / p.heads, h = block / blocks % p.heads, i = block % blocks * kQueries, rows = std::min(kQueries, p.queries - i);
      if (int64_t group = n * p.groups + h / repeat; group != head) {
        packed.pack_head(plane<BFloat16>(k, n, h / repeat), plane<BFloat16>(v, n, h / repeat), p);
        head = group;
      }
      packed.pack_queries(plane<BFloat16>(q, n, h), i, rows, p.width);
      RunningSoftmax softmax;
      std::fill(acc.begin(), acc.end(), 0.0f);
      for (int64_t j = 0, end = p.last_key(i, rows); j < end; j += kKeys) {
        const int64_t columns = std::min(kKeys, end - j), steps = tile_steps(columns);
        for (int64_t r = 0; r < tile_panels(rows); r++)
          for (int64_t c = 0; c < tile_panels(columns); c++)
            multiply_panels(packed.queries + r * packed.width_steps * kTileStep, packed.keys + (j / kTileLines + c) * packed.width_steps * kTileStep,
                            packed.width_steps, s.data() + r * kTileLines * kLine + c * kTileLines, kLine, false);
        // A mask is added to what has been scaled; else the softmax scales by the way.
        const bool later = !p.mask && p.scale > 0;
        for (int64_t r = 0; !later && r < rows; r++) map(s.data() + r * kLine, s.data() + r * kLine, columns, [by = Vec<float>(p.scale)](Vec<float> x) { return x * by; });
        p.hide(n, h, i, rows, j, columns, s.data());
        for (int64_t r = 0; r < rows; r++) {
          softmax.take(r, s.data() + r * kLine, columns, later ? p.scale : 1, acc.data() + r * line, p.values);
          packed.pack_shares(r, s.data() + r * kLine, columns);
        }
        for (int64_t r = rows; r < tile_panels(rows) * kTileLines; r++) packed.pack_shares(r, nullptr, 0);
        for (int64_t r = 0; r < tile_panels(rows); r++)
          for (int64_t c = 0; c < packed.value_panels; c++)
            multiply_panels(packed.shares + r * (kKeys / kTileDepth) * kTileStep, packed.values + (c * packed.key_steps + j / kTileDepth) * kTileStep, steps,
                            acc.data() + r * kTileLines * line + c * kTileLines, line, true);
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
  if (!direct) run_copy(y, out[0]);
  if (!(log_sums == out[1])) run_copy(log_sums, out[1]);
}

void forward(const FlashAttention& op, Inputs in, Outputs out) {
  if (fits_tiles(in)) return forward_by_tiles(op, in, out);
  Tensor q = dense_rows(in[0]), k = dense_rows(in[1]), v = dense_rows(in[2]);
  const Problem p(op, q, k, v, in[3]);
  const bool direct = out[0].dtype() == DType::float32 && out[0].strides()[3] == 1;
  Tensor y = direct ? out[0] : empty(out[0].sizes(), DType::float32);
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
  if (!direct) run_copy(y, out[0]);
  if (!(log_sums == out[1])) run_copy(log_sums, out[1]);
}

void backward(const FlashAttentionBackward& op, Inputs in, Outputs out) {
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
        for (int64_t i = 0; i < p.queries; i++) {
          dot[i] = 0;
          for (int64_t c = 0; c < p.values; c++) dot[i] += given.data[i * given.ld + c] * made.data[i * made.ld + c];
        }
        for (int64_t i = 0; i < p.queries; i += kQueries) {
          int64_t rows = std::min(kQueries, p.queries - i);
          for (int64_t j = 0, end = p.last_key(i, rows); j < end; j += kKeys) {
            int64_t columns = std::min(kKeys, end - j);
            p.scores(queries, keys, n, h, i, rows, j, columns, s.data());
            for (int64_t r = 0; r < rows; r++) exponentials(s.data() + r * kLine, columns, 1, log_sum[i + r]);
            product(true, false, columns, p.values, rows, 1, s.data(), kLine, given.data + i * given.ld, given.ld, 1, dv.data + j * dv.ld, dv.ld);
            product(false, true, rows, columns, p.values, 1, given.data + i * given.ld, given.ld, values.data + j * values.ld, values.ld, 0, ds.data(), kLine);
            for (int64_t r = 0; r < rows; r++)
              for (int64_t c = 0; c < columns; c++) ds[r * kLine + c] = s[r * kLine + c] * (ds[r * kLine + c] - dot[i + r]) * p.scale;
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
