// Copies between layouts and dtypes: squares swapped where the dense axes differ, rows in moves where the dtypes agree, casts elsewhere.
#include <algorithm>
#include <cstring>

#include "framework/kernels/cpu/casts.h"
#include "framework/kernels/cpu/loops.h"
#include "framework/kernels/cpu/moves.h"
#include "framework/kernels/cpu/past_caches.h"
#include "framework/kernels/cpu/space.h"
#include "framework/kernels/cpu/transpose.h"

namespace weir {
namespace WEIR_ISA {
namespace {

// The innermost axis is dense in dst but not in src, axis `d` is dense in src: swap them square by square. A strip is kSquare of the
// innermost axis, read along `d`.
void copy_transposed(const Space& s, int d, int64_t strip_begin, int64_t strip_end) {
  const Operand &to = s.ops[0], &from = s.ops[1];
  const int in = s.n - 1;
  const int64_t rows = s.sizes[d], cols = s.sizes[in], strips = (cols + kSquare - 1) / kSquare, ti = size_of(to.dtype), fi = size_of(from.dtype);
  alignas(64) std::byte square[kSquare * kSquare * kMaxItem];
  const Converter run = converter(from.dtype, to.dtype);
  for (int64_t strip = strip_begin; strip < strip_end; strip++) {
    int64_t rest = strip / strips, c = strip % strips * kSquare, t0 = c * to.strides[in], f0 = c * from.strides[in];
    for (int k = s.n - 1; k-- > 0;) {
      if (k == d) continue;
      t0 += rest % s.sizes[k] * to.strides[k];
      f0 += rest % s.sizes[k] * from.strides[k];
      rest /= s.sizes[k];
    }
    const int64_t nc = std::min(kSquare, cols - c);
    for (int64_t r = 0; r < rows; r += kSquare) {
      const int64_t nr = std::min(kSquare, rows - r);
      const std::byte* begin = from.data + (f0 + r) * fi;
      if (from.dtype == to.dtype && ti == 4) turn<uint32_t>(begin, from.strides[in], square, kSquare, nc, nr);
      else if (from.dtype == to.dtype && ti == 8) turn<uint64_t>(begin, from.strides[in], square, kSquare, nc, nr);
      else if (from.dtype == to.dtype && ti == 2) turn<uint16_t>(begin, from.strides[in], square, kSquare, nc, nr);
      else for (int64_t j = 0; j < nc; j++) run(begin + j * from.strides[in] * fi, 1, square + j * ti, kSquare, nr);
      for (int64_t i = 0; i < nr; i++) std::memcpy(to.data + (t0 + (r + i) * to.strides[d]) * ti, square + i * kSquare * ti, nc * ti);
    }
  }
}

// Some rows of two operands: where each begins, and how far apart its rows and the elements of a row lie.
template <class T> struct Rows {
  const T* from;
  T* to;
  int64_t from_row, from_step, to_row, to_step;
};

template <size_t kMove, class T> void copy_dense_rows(const Rows<T>& r, int64_t rows, int64_t n) {
  for (int64_t i = 0; i < rows; i++)
    copy_by<kMove>(reinterpret_cast<const std::byte*>(r.from + i * r.from_row), reinterpret_cast<std::byte*>(r.to + i * r.to_row), size_t(n) * sizeof(T));
}

// Rows of kN elements. Those that lie column by column in memory are read as kN streams and interleaved.
template <int kN, class T> void copy_narrow_rows(const Rows<T>& r, int64_t rows) {
  const T* __restrict x = r.from;
  T* __restrict y = r.to;
  if (r.from_row == 1 && r.to_row == kN && r.to_step == 1) {
    for (int64_t i = 0; i < rows; i++)
      for (int j = 0; j < kN; j++) y[i * kN + j] = x[i + j * r.from_step];
  } else if (r.from_step == 1 && r.to_step == 1) {
    for (int64_t i = 0; i < rows; i++) __builtin_memcpy(y + i * r.to_row, x + i * r.from_row, kN * sizeof(T));
  } else {
    for (int64_t i = 0; i < rows; i++)
      for (int j = 0; j < kN; j++) y[i * r.to_row + j * r.to_step] = x[i * r.from_row + j * r.from_step];
  }
}

template <class T> void copy_some_rows(const Rows<T>& r, int64_t rows, int64_t n) {
  switch (n) {
    case 2: return copy_narrow_rows<2>(r, rows);
    case 3: return copy_narrow_rows<3>(r, rows);
    case 4: return copy_narrow_rows<4>(r, rows);
    case 5: return copy_narrow_rows<5>(r, rows);
    case 6: return copy_narrow_rows<6>(r, rows);
    case 8: return copy_narrow_rows<8>(r, rows);
    default: break;
  }
  const size_t bytes = size_t(n) * sizeof(T);
  if (r.from_step == 1 && r.to_step == 1) {
    if (bytes >= 64) {
      copy_dense_rows<64>(r, rows, n);
    } else if (bytes >= 16) {
      copy_dense_rows<16>(r, rows, n);
    } else {
      copy_dense_rows<sizeof(T)>(r, rows, n);
    }
    return;
  }
  for (int64_t i = 0; i < rows; i++) {
    const T* __restrict x = r.from + i * r.from_row;
    T* __restrict y = r.to + i * r.to_row;
    if (r.from_step == 0 && r.to_step == 1) std::fill_n(y, n, *x);
    else if (r.from_step == -1 && r.to_step == 1) for (int64_t j = 0; j < n; j++) y[j] = x[-j];
    else if (r.to_step == 1) for (int64_t j = 0; j < n; j++) y[j] = x[j * r.from_step];
    else for (int64_t j = 0; j < n; j++) y[j * r.to_step] = x[j * r.from_step];
  }
}

// Of all positions of the axes but the innermost, those from `begin` to `end`, elements as they are.
template <class T> void copy_rows(const Space& s, int64_t begin, int64_t end) {
  const Operand &to = s.ops[0], &from = s.ops[1];
  const int in = s.n - 1;
  for_lines(s, begin, end, [&](const int64_t* offset, int64_t rows) {
    const Rows<T> r{reinterpret_cast<const T*>(from.data) + offset[1], reinterpret_cast<T*>(to.data) + offset[0], from.strides[in - 1], from.strides[in],
                    to.strides[in - 1], to.strides[in]};
    copy_some_rows(r, rows, s.sizes[in]);
  });
}

// The first axis that is dense in src and longer than that beside the innermost, if these two hold a few numbers only; -1: none.
int longer_axis(const Space& s) {
  const int row = s.n - 2;
  for (int d = 0; d < row; d++)
    if (s.ops[1].strides[d] == 1 && s.sizes[d] > s.sizes[row] && s.sizes[row] * s.sizes[s.n - 1] < 64) return d;
  return -1;
}

constexpr int64_t kFew = 16;  // above, lines along one axis are as fast
// How many of the innermost axes hold a few numbers that lie together in both operands, in another order, as small matrices do; or so few on each axis
// that a line of them is over before it has begun; 0: none.
int shuffled_axes(const Space& s) {
  constexpr int64_t kShortest = 4;
  const int64_t *to = s.ops[0].strides, *from = s.ops[1].strides;
  int64_t volume = 1, reach = 0;
  int short_ones = 0;
  for (int axes = 1; axes < s.n; axes++) {
    const int d = s.n - axes;
    if (to[d] != volume || volume * s.sizes[d] > kFew) break;
    volume *= s.sizes[d], reach += (s.sizes[d] - 1) * from[d];
    if (axes > 1 && reach == volume - 1) return axes;
    if (s.sizes[d] > kShortest) break;
    if (axes > 1) short_ones = axes;
  }
  const int d = longer_axis(s);
  return d < 0 || s.sizes[d] <= kFew ? short_ones : 0;
}

// Blocks of those axes, by a table of where each number comes from.
template <class T> void copy_shuffled(const Space& s, int axes) {
  const int64_t volume = volume_of(s, axes);
  const int along = s.n - axes - 1;
  int64_t table[kFew], blocks = 1;
  for (int64_t i = 0; i < volume; i++) {
    table[i] = 0;
    for (int64_t d = s.n - 1, rest = i; d > along; rest /= s.sizes[d--]) table[i] += rest % s.sizes[d] * s.ops[1].strides[d];
  }
  for (int d = 0; d <= along; d++) blocks *= s.sizes[d];
  parallel_for(blocks, kGrain / volume, [&](int64_t b, int64_t e) {
    for_blocks(s, axes, b, e, [&](const int64_t* offset, int64_t rows) {
      const T* __restrict from = reinterpret_cast<const T*>(s.ops[1].data) + offset[1];
      T* __restrict to = reinterpret_cast<T*>(s.ops[0].data) + offset[0];
      for (int64_t r = 0; r < rows; r++, from += s.ops[1].strides[along], to += s.ops[0].strides[along])
        for (int64_t i = 0; i < volume; i++) to[i] = from[table[i]];
    });
  });
}

// Whether the two innermost axes are small matrices with rows and columns exchanged, as groups of channels are.
bool has_turned_matrices(const Space& s) {
  const int in = s.n - 1;
  if (in < 2) return false;
  const int64_t *to = s.ops[0].strides, *from = s.ops[1].strides, rows = s.sizes[in - 1], cols = s.sizes[in], item = size_of(s.ops[0].dtype);
  return to[in] == 1 && from[in - 1] == 1 && std::min(rows, cols) >= kLeastSquare && rows * cols <= kSquare * kSquare && item > 1 && item <= 8;
}
template <class T> void copy_turned_matrices(const Space& s) {
  const int64_t rows = s.sizes[s.n - 2], cols = s.sizes[s.n - 1], to_row = s.ops[0].strides[s.n - 2], from_row = s.ops[1].strides[s.n - 1];
  parallel_for(volume_of(s, s.n) / (rows * cols), kGrain / (rows * cols), [&](int64_t b, int64_t e) {
    for_blocks(s, 2, b, e, [&](const int64_t* offset, int64_t matrices) {
      const T* from = reinterpret_cast<const T*>(s.ops[1].data) + offset[1];
      T* to = reinterpret_cast<T*>(s.ops[0].data) + offset[0];
      for (int64_t m = 0; m < matrices; m++, from += s.ops[1].strides[s.n - 3], to += s.ops[0].strides[s.n - 3]) turn<T>(from, from_row, to, to_row, cols, rows);
    });
  });
}

// Where the two innermost axes hold a few numbers only, the axis that is dense in src goes beside the innermost: lines along it are longer.
void lengthen_lines(Space& s) {
  const int row = s.n - 2, d = longer_axis(s);
  if (d < 0) return;
  std::swap(s.sizes[d], s.sizes[row]);
  for (int k = 0; k < s.count; k++) std::swap(s.ops[k].strides[d], s.ops[k].strides[row]);
}

}  // namespace

struct InOrder::Impl { Space space; };
InOrder::InOrder(const Tensor& t, const Tensor& like) : impl_(new Impl{make_space(std::span(&t, 1), like)}) {}
InOrder::~InOrder() = default;
void InOrder::run(int64_t begin, int64_t end, void* to) const {
  const Space& s = impl_->space;
  const Operand& from = s.ops[1];
  const size_t item = size_of(from.dtype);
  std::byte* next = static_cast<std::byte*>(to);
  auto runs = [&](int64_t b, int64_t e) {
    for_runs(s, b, e, [&](const int64_t* offset, int64_t n) {
      convert(from.dtype, from.data + offset[1] * int64_t(item), from.strides[s.n - 1], from.dtype, next, 1, n);
      next += n * item;
    });
  };
  const int whole = short_axes(s);
  if (!whole) return runs(begin, end);
  const int64_t volume = volume_of(s, whole), first = (begin + volume - 1) / volume, last = end / volume;
  if (first >= last) return runs(begin, end);
  const Blocks blocks(s, whole);
  const Converter copy = converter(from.dtype, from.dtype);
  runs(begin, first * volume);
  for_blocks(s, whole, first, last, [&](const int64_t* offset, int64_t rows) {
    blocks.each_line(1, offset[1], rows, [&](int64_t at, int64_t step, int64_t place, int64_t tile_step, int64_t n) {
      copy(from.data + at * int64_t(item), step, next + place * int64_t(item), tile_step, n);
    });
    blocks.repeat(1, rows, next, item);
    next += rows * volume * item;
  });
  runs(last * volume, end);
}

void run_copy(const Tensor& src, const Tensor& dst) {
  if (dst.numel() == 0) return;
  Space s = make_space(std::span(&src, 1), dst);
  const Operand &to = s.ops[0], &from = s.ops[1];
  if (from.dtype == to.dtype && has_turned_matrices(s))
    return size_of(to.dtype) == 2 ? copy_turned_matrices<uint16_t>(s) : size_of(to.dtype) == 4 ? copy_turned_matrices<uint32_t>(s) : copy_turned_matrices<uint64_t>(s);
  if (from.dtype == to.dtype)
    if (const int axes = shuffled_axes(s))
      return by_item_size(size_of(to.dtype), [&]<class T>(TypeTag<T>) { copy_shuffled<T>(s, axes); });
  int in = s.n - 1;
  if (to.strides[in] == 1 && from.strides[in] > 1 && s.sizes[in] >= 4 && (s.sizes[in] > 8 || short_axes(s) != 1))
    for (int d = 0; d < in; d++)
      if (from.strides[d] == 1 && s.sizes[d] >= 4) {
        const int64_t strips = dst.numel() / s.sizes[d] / s.sizes[in] * ((s.sizes[in] + kSquare - 1) / kSquare);
        const int64_t grain = kGrain / (s.sizes[d] * std::min(s.sizes[in], kSquare));
        return parallel_for(strips, grain, [&](int64_t b, int64_t e) { copy_transposed(s, d, b, e); });
      }
  const Converter run = converter(from.dtype, to.dtype);
  const int64_t inner = s.sizes[in], from_item = int64_t(size_of(from.dtype)), to_item = int64_t(size_of(to.dtype));
  if (s.n > 1 && from.dtype == to.dtype && inner < kGrain / 8) {
    lengthen_lines(s);
    return by_item_size(size_t(to_item), [&]<class T>(TypeTag<T>) {
      parallel_for(dst.numel() / inner, kGrain / inner, [&](int64_t b, int64_t e) { copy_rows<T>(s, b, e); });
    });
  }
  if (short_axes(s) == 1)
    return parallel_for(dst.numel() / inner, kGrain / inner, [&](int64_t b, int64_t e) {
      for_blocks(s, 1, b, e, [&](const int64_t* offset, int64_t rows) {
        for (int64_t j = 0; j < inner; j++)
          run(from.data + (offset[1] + j * from.strides[in]) * from_item, from.strides[in - 1], to.data + (offset[0] + j * to.strides[in]) * to_item,
              to.strides[in - 1], rows);
      });
    });
  const bool streams = s.n == 1 && from.strides[in] == 1 && to.strides[in] == 1 && inner * to_item >= kStepStreamed && from.data != to.data;
  parallel_for(dst.numel(), kGrain, [&](int64_t b, int64_t e) {
    if (streams && from.dtype == to.dtype) return stream_all(from.data + b * from_item, to.data + b * to_item, size_t((e - b) * to_item));
    if (streams)
      return stream_pieces(to.data + b * to_item, e - b, to_item, [&](int64_t i, int64_t n, std::byte* piece) {
        const std::byte* at = from.data + (b + i) * from_item;
        fetch_behind(at, size_t(n * from_item));
        run(at, 1, piece, 1, n);
      });
    for_runs(s, b, e, [&](const int64_t* offset, int64_t n) {
      run(from.data + offset[1] * from_item, from.strides[in], to.data + offset[0] * to_item, to.strides[in], n);
    });
  });
}

Tensor copied(const Tensor& t, const Meta& layout) {
  Tensor c = empty(layout);
  run_copy(t, c);
  return c;
}
Tensor row_major(const Tensor& t) { return t.is_contiguous() ? t : copied(t, Meta(t.sizes(), t.dtype())); }

}  // namespace WEIR_ISA
}  // namespace weir
