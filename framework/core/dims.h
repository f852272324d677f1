// Dims: up to kMaxDims sizes or strides, stored inline so that shapes never touch the heap.
#pragma once
#include <cassert>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <ostream>

#include "framework/core/error.h"

namespace weir {

constexpr int kMaxDims = 64;  // as in PyTorch

// Sizes, strides, offsets and bytes come from users and files: these three compute them, and raise RuntimeError where 63
// bits do not hold the result.
inline int64_t checked_add(int64_t a, int64_t b) {
  int64_t r;
  check(!__builtin_add_overflow(a, b, &r), "size arithmetic overflows: ", a, " + ", b);
  return r;
}
inline int64_t checked_sub(int64_t a, int64_t b) {
  int64_t r;
  check(!__builtin_sub_overflow(a, b, &r), "size arithmetic overflows: ", a, " - ", b);
  return r;
}
inline int64_t checked_mul(int64_t a, int64_t b) {
  int64_t r;
  check(!__builtin_mul_overflow(a, b, &r), "size arithmetic overflows: ", a, " * ", b);
  return r;
}

struct Dims;
std::ostream& operator<<(std::ostream& out, const Dims& d);

struct Dims {
  int64_t v[kMaxDims];
  int n = 0;

  Dims() = default;
  Dims(std::initializer_list<int64_t> values) {
    for (int64_t x : values) push(x);
  }
  Dims(int count, int64_t value) {
    for (int i = 0; i < count; i++) push(value);
  }
  Dims(const Dims& o) : n(o.n) { std::memcpy(v, o.v, bytes()); }
  Dims& operator=(const Dims& o) {
    n = o.n;
    std::memmove(v, o.v, bytes());
    return *this;
  }

  int64_t* begin() { return v; }
  int64_t* end() { return v + n; }
  const int64_t* begin() const { return v; }
  const int64_t* end() const { return v + n; }
  // Sanitized builds check that the axis is there; a release build reads what stands behind the last one.
  int64_t& operator[](int i) { return assert(i >= 0 && i < n), v[i]; }
  int64_t operator[](int i) const { return assert(i >= 0 && i < n), v[i]; }
  int64_t& back() { return v[n - 1]; }
  int64_t back() const { return v[n - 1]; }
  bool empty() const { return n == 0; }

  void push(int64_t x) {
    check(n < kMaxDims, "tensors have at most ", kMaxDims, " dimensions");
    v[n++] = x;
  }
  void insert(int at, int64_t x) {
    push(x);
    for (int i = n - 1; i > at; i--) v[i] = v[i - 1];
    v[at] = x;
  }
  void erase(int at) {
    for (int i = at; i + 1 < n; i++) v[i] = v[i + 1];
    n--;
  }
  bool contains(int64_t x) const {
    for (int64_t y : *this) if (x == y) return true;
    return false;
  }
  /// The number of elements of these sizes; RuntimeError where 63 bits do not hold it.
  int64_t product() const {
    int64_t p = 1;
    bool overflow = false;
    for (int64_t x : *this) overflow |= __builtin_mul_overflow(p, x, &p);
    if (overflow) [[unlikely]] {
      check(contains(0), "Storage size calculation overflowed with sizes=", *this);
      return 0;
    }
    return p;
  }
  bool operator==(const Dims& o) const {
    return n == o.n && std::memcmp(v, o.v, bytes()) == 0;
  }

 private:
  size_t bytes() const { return n > 0 ? sizeof(int64_t) * n : 0; }  // Meta uses n == -1 for "not set"
};

inline std::ostream& operator<<(std::ostream& out, const Dims& d) {
  out << '[';
  for (int i = 0; i < d.n; i++) out << (i ? ", " : "") << d[i];
  return out << ']';
}

/// Row-major strides of a dense tensor of these sizes (a size of 0 counts as 1, as in PyTorch). Raises where one overflows.
inline Dims contiguous_strides(const Dims& sizes) {
  Dims s;
  s.n = sizes.n;
  int64_t step = 1;
  for (int i = sizes.n; i-- > 0;) {
    s[i] = step;
    if (i > 0 && __builtin_mul_overflow(step, sizes[i] > 1 ? sizes[i] : 1, &step)) [[unlikely]]
      throw Error(str("Stride calculation overflowed with sizes=", sizes));
  }
  return s;
}

/// `dim` in [-ndim, ndim) mapped to [0, ndim); a 0-d tensor counts as 1-d. IndexError otherwise.
inline int wrap_dim(int64_t dim, int ndim, const char* op) {
  int64_t n = ndim > 0 ? ndim : 1;
  check<IndexError>(dim >= -n && dim < n, op, ": Dimension out of range (expected to be in range of [", -n, ", ",
                    n - 1, "], but got ", dim, ")");
  return int(dim < 0 ? dim + n : dim);
}

}  // namespace weir
