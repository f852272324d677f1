#include "framework/ops/batch_norm_pool.h"

#include <algorithm>
#include <vector>

#include "framework/kernels/cpu/batch_norm.h"
#include "framework/kernels/cpu/pool_max.h"

namespace weir {
namespace WEIR_ISA {
namespace {

using namespace pool;

Tensor last(const Tensor& t) { return in_layout(t, true); }

// The last rows of a picture that windows look at, normalised. A window of `held` rows finds all of its own here.
template <class T> class Rows {
 public:
  Rows(int64_t held, int64_t width) : held_(held), width_(width), numbers_(size_t(held * width)) {}
  T* row(int64_t y) { return numbers_.data() + y % held_ * width_; }
  /// Calls make(y, row) for the rows up to `last` of a picture that are not here yet, from `first` on.
  template <class F> void have(int64_t picture, int64_t first, int64_t last, F&& make) {
    if (picture != picture_) picture_ = picture, next_ = 0;
    for (next_ = std::max(next_, first); next_ <= last; next_++) make(next_, row(next_));
  }

 private:
  int64_t held_, width_, picture_ = -1, next_ = 0;
  Scratch<T> numbers_;
};

// An output row, kLanes channels of a column at a time, of the rows under it, which are null in the padding.
template <class T> void pool_row(const Planes& p, const Window& w, const std::vector<const T*>& rows, Best<float>& best, T* to, uint8_t* places) {
  constexpr int64_t least = Vec<float>::size;
  for (int64_t x = 0; x < p.out[2]; x++)
    for (int64_t lane = 0, m; lane < p.lanes; lane += m) {
      m = std::min(kLanes, p.lanes - lane);
      if (m < least) lane = p.lanes - least, m = least;  // some again
      best_of_many(m, 0, best, [&](auto&& f) {
        const int64_t first = x * w.s[2] - w.p[2];
        for (size_t a = 0; a < rows.size(); a++)
          for (int64_t b = std::max<int64_t>(0, -first), e = std::min(w.k[2], p.in[2] - first); rows[a] && b < e; b++)
            f(rows[a] + (first + b) * p.lanes + lane, int64_t(a) * w.k[2] + b);
      });
      const int64_t at = x * p.lanes + lane;
      if constexpr (std::is_same_v<T, float>) std::copy_n(best.value, m, to + at);
      else narrow<T, float>(to + at, best.value, m);
      for (int64_t l = 0; l < m; l++) places[at + l] = uint8_t(best.index[l]);
    }
}

void batch_norm_relu_max_pool(const BatchNormReluMaxPool& op, Inputs in, Outputs out) {
  if (in[0].numel() == 0) return;
  const Tensor x = last(in[0]);
  const ChannelPlanes planes(x);
  const Planes p(x.sizes(), out[0].sizes(), true);
  const Window w(op);
  auto run = [&]<class T>(TypeTag<T>) {
    const Statistics s = statistics_of<T, float>(x, op.eps);
    const int64_t width = p.in[2] * p.lanes, out_width = p.out[2] * p.lanes, L = planes.line();
    with_affine<T, float>(planes, in, s.mean, s.invstd, all_plain(in), [&](auto affine) {
      parallel_for(p.count * p.out[1], kGrain / width, [&](int64_t begin, int64_t end) {
        Best<float> best;
        Rows<T> held(w.k[1], width);
        std::vector<const T*> rows(size_t(w.k[1]));
        for (int64_t i = begin; i < end; i++) {
          const int64_t picture = i / p.out[1], top = i % p.out[1] * w.s[1] - w.p[1], first = std::max<int64_t>(0, top), end_row = std::min(top + w.k[1], p.in[1]);
          held.have(picture, first, end_row - 1, [&](int64_t y, T* row) {
            const T* from = x.data<T>() + (picture * p.in[1] + y) * width;
            for (int64_t k = 0; k < width; k += L)
              map_line<T, float>(from + k, nullptr, row + k, std::min(L, width - k), [](int64_t j, int count) { return BesideEachOther{j, count}; },
                                 [&](auto at, Vec<float> v, Vec<float> g) { return relu_of<T, float>(affine(at, v, g)); });
          });
          for (int64_t a = 0; a < w.k[1]; a++) rows[a] = top + a >= first && top + a < end_row ? held.row(top + a) : nullptr;
          pool_row<T>(p, w, rows, best, out[0].data<T>() + i * out_width, out[1].data<uint8_t>() + i * out_width);
        }
      });
    });
    keep(s, x, op.momentum, in.subspan(3), out.subspan(2));
  };
  by_float(x.dtype(), [&]<class T, class A>(TypeTag<T> tag, TypeTag<A>) {
    if constexpr (std::is_same_v<A, float>) run(tag);
  });
}

// The gradient of a max pool's input: each gradient of a window where its largest number stood, in the order of the windows.
struct FromPlaces {
  Tensor dy, places;
  const Planes& p;
  const Window& w;
  template <class T, class A> class Of {
   public:
    explicit Of(const FromPlaces& f) : dy_(f.dy.data<T>()), places_(f.places.data<uint8_t>()), p_(f.p), w_(f.w), columns_(windows_over(f.p, f.w, 2)), rows_(windows_over(f.p, f.w, 1)) {}
    /// `count` numbers from number `at` of the input on, both of whole places.
    void operator()(int64_t at, int64_t count, T* out) const {
      for_places(at / p_.lanes, count / p_.lanes, p_.in[1], p_.in[2], [&](int64_t picture, int64_t y, int64_t x) {
        one(picture, y, x, out);
        out += p_.lanes;
      });
    }

   private:
    // The windows that see a coordinate, and where it stands in the first of them.
    struct Over { int32_t first, end, place; };
    static std::vector<Over> windows_over(const Planes& p, const Window& w, int axis) {
      std::vector<Over> r;
      for (int64_t i = 0; i < p.in[axis]; i++) {
        const int64_t reached = i + w.p[axis], first = reached < w.k[axis] ? 0 : (reached - w.k[axis]) / w.s[axis] + 1;
        r.push_back({int32_t(first), int32_t(std::min(reached / w.s[axis] + 1, p.out[axis])), int32_t(reached - first * w.s[axis])});
      }
      return r;
    }
    void one(int64_t picture, int64_t y, int64_t x, T* out) const {
      using V = Vec<float>;
      const Over &v = rows_[y], &h = columns_[x];
      if constexpr (!std::is_same_v<T, double>) for_lanes<float>(p_.lanes, [&]<int kVectors>(std::integral_constant<int, kVectors>, int64_t lane) {
        V sum[kVectors];
        for (V& s : sum) s = V(0);
        for (int64_t i = v.first; i < v.end; i++)
          for (int64_t j = h.first; j < h.end; j++) {
            const int64_t from = ((picture * p_.out[1] + i) * p_.out[2] + j) * p_.lanes + lane;
            const Vec<int32_t> here(int32_t((v.place - (i - v.first) * w_.s[1]) * w_.k[2] + h.place - (j - h.first) * w_.s[2]));
            for (int k = 0; k < kVectors; k++) {
              const auto stood = bytes_at(places_ + from + k * V::size) == here;
              sum[k] = sum[k] + where(Mask<float>{stood.v}, vector_of<float>(dy_ + from + k * V::size), V(0));
            }
          }
        T* to = out + lane;
        if constexpr (kVectors > 1)
          for (int k = 0; k < kVectors; k += 2) narrow_pair(sum[k], sum[k + 1], to + k * V::size);
        else if constexpr (std::is_same_v<T, float>) sum[0].store(to);
        else for (int l = 0; l < V::size; l++) to[l] = T(sum[0].v[l]);
      });
    }
    static Vec<int32_t> bytes_at(const uint8_t* p) {
#if defined(__AVX512F__)
      return Vec<int32_t>((Vec<int32_t>::V)_mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))));
#elif defined(__AVX2__)
      return Vec<int32_t>((Vec<int32_t>::V)_mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p))));
#else
      Vec<int32_t> r;
      for (int l = 0; l < Vec<int32_t>::size; l++) r.v[l] = p[l];
      return r;
#endif
    }

    const T* dy_;
    const uint8_t* places_;
    const Planes& p_;
    const Window& w_;
    std::vector<Over> columns_, rows_;
  };
};

void batch_norm_relu_max_pool_backward(const BatchNormReluMaxPoolBackward& op, Inputs in, Outputs out) {
  const Planes p(out[0].sizes(), in[0].sizes(), true);
  const Window w(op);
  const Tensor parts[] = {out[0], in[2], in[3], in[4], in[5], in[6]};
  gradient(parts, true, op.eps, true, out, MadeBy<FromPlaces>{{last(in[0]), last(in[1]), p, w}});
}

}  // namespace

static const bool registered = [] {
  constexpr auto cpu = DeviceType::cpu;
  set_kernel<BatchNormReluMaxPool, batch_norm_relu_max_pool>(cpu);
  set_kernel<BatchNormReluMaxPoolBackward, batch_norm_relu_max_pool_backward>(cpu);
  return true;
}();

}  // namespace WEIR_ISA
}  // namespace weir
