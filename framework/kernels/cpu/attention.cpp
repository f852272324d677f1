#include "framework/ops/attention.h"

#include <dnnl.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "framework/kernels/cpu/loops.h"
#include "framework/kernels/cpu/registers.h"

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

// Float32 elements whose last axis is dense: the tensor itself where it is so.
Tensor dense_rows(const Tensor& t) {
  if (t.dtype() == DType::float32 && t.strides()[3] == 1 && t.strides()[2] >= t.sizes()[3]) return t;
  return copied(t, Meta(t.sizes(), DType::float32));
}

struct Plane { float* data; int64_t ld; };
Plane plane(const Tensor& t, int64_t n, int64_t h) { return {t.data<float>() + n * t.strides()[0] + h * t.strides()[1], t.strides()[2]}; }

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

// x = exp(x - shift) over n numbers; their sum.
float exponentials(float* x, int64_t n, float shift) {
  map(x, x, n, [by = Vec<float>(shift)](Vec<float> e) { return exp(e - by); });
  return sum_of(x, n);
}

void forward(const FlashAttention& op, Inputs in, Outputs out) {
  Tensor q = dense_rows(in[0]), k = dense_rows(in[1]), v = dense_rows(in[2]);
  const Problem p(op, q, k, v, in[3]);
  const bool direct = out[0].dtype() == DType::float32 && out[0].strides()[3] == 1;
  Tensor y = direct ? out[0] : empty(out[0].sizes(), DType::float32);
  Tensor log_sums = out[1].is_contiguous() ? out[1] : empty(out[1].sizes(), DType::float32);
  const int64_t blocks = (p.queries + kQueries - 1) / kQueries;
  parallel_for(p.batch * p.heads * blocks, 1, [&](int64_t b, int64_t e) {
    std::vector<float> s(kQueries * kLine), sum(kQueries), top(kQueries), acc(kQueries * p.values);
    for (int64_t block = b; block < e; block++) {
      int64_t n = block / blocks / p.heads, h = block / blocks % p.heads, i = block % blocks * kQueries, rows = std::min(kQueries, p.queries - i);
      Plane queries = plane(q, n, h), keys = plane(k, n, h / (p.heads / p.groups)), values = plane(v, n, h / (p.heads / p.groups));
      std::fill(sum.begin(), sum.end(), 0.0f), std::fill(top.begin(), top.end(), -INFINITY), std::fill(acc.begin(), acc.end(), 0.0f);
      for (int64_t j = 0, end = p.last_key(i, rows); j < end; j += kKeys) {
        int64_t columns = std::min(kKeys, end - j);
        p.scores(queries, keys, n, h, i, rows, j, columns, s.data());
        for (int64_t r = 0; r < rows; r++) {
          float* row = s.data() + r * kLine;
          float before = top[r], high = largest_of(row, columns);
          high = high > before || high != high ? high : before;
          if (high == -INFINITY) {  // nothing seen so far
            std::fill_n(row, columns, 0.0f);
            continue;
          }
          float faded = std::exp(before - high);
          sum[r] = sum[r] * faded + exponentials(row, columns, high);
          top[r] = high;
          if (faded != 1)
            for (int64_t c = 0; c < p.values; c++) acc[r * p.values + c] *= faded;
        }
        product(false, false, rows, p.values, columns, 1, s.data(), kLine, values.data + j * values.ld, values.ld, 1, acc.data(), p.values);
      }
      Plane to = plane(y, n, h);
      for (int64_t r = 0; r < rows; r++) {
        bool blind = top[r] == -INFINITY;
        float share = blind ? 0 : 1 / sum[r];
        for (int64_t c = 0; c < p.values; c++) to.data[(i + r) * to.ld + c] = acc[r * p.values + c] * share;
        log_sums.data<float>()[(n * p.heads + h) * p.queries + i + r] = blind ? INFINITY : top[r] + std::log(sum[r]);
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
            for (int64_t r = 0; r < rows; r++) exponentials(s.data() + r * kLine, columns, log_sum[i + r]);
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
