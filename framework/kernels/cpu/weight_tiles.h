// Gradients of convolutions' weights in bfloat16 by AMX's tiles (tiles.h).
//
// Each number of the gradient sums over all windows, so windows are what a product's factors have in common: the left one has the output's channels,
// the right one those that its windows see at one position. Both lie channels innermost. The right factor of every position is the same image, moved: rows
// of windows follow each other at the pitch of the widest move, so that a move is an offset. What lies between two rows of windows is multiplied by zero.
// A stride's images are brought apart by the remainder of their places.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstring>
#include <vector>

#include "framework/core/parallel.h"
#include "framework/core/scratch.h"
#include "framework/kernels/cpu/conv_product.h"
#include "framework/kernels/cpu/tiles.h"
#include "framework/kernels/cpu/weight_products.h"

namespace weir {
namespace WEIR_ISA {

class WeightTiles {
 public:
  WeightTiles(const ConvolutionWeight& op, const Tensor& x, const Tensor& dy, const Tensor& dw)
      : x_(x.data<BFloat16>()), dy_(dy.data<BFloat16>()), dw_(dw), images_(x.sizes()[0]), in_(x.sizes()[1]), out_(dw.sizes()[0]),
        down_(axes_of(op, dw.sizes(), dy.sizes(), x.sizes()).y), across_(axes_of(op, dw.sizes(), dy.sizes(), x.sizes()).x), zeros_(std::max(in_, out_), BFloat16(0.0f)) {
    lefts_ = tile_panels(out_), rights_ = tile_panels(in_), taps_ = down_.taps * across_.taps;
    const Moves y(down_), x_moves(across_);
    pitch_ = across_.windows + x_moves.span;
    for (int64_t ty = 0; ty < down_.taps; ty++)
      for (int64_t tx = 0; tx < across_.taps; tx++) {
        const Phase phase{y.begin(ty), x_moves.begin(tx)};
        size_t at = 0;
        while (at < phases_.size() && !(phases_[at] == phase)) at++;
        if (at == phases_.size()) phases_.push_back(phase);
        moves_.push_back({int64_t(at), y.steps[ty] * pitch_ + x_moves.steps[tx]});
      }
    furthest_ = y.span * pitch_ + x_moves.span;
    divide();
  }

  /// False if a result is not finite, which zeros beside an infinite number may have done; dw holds no result then.
  bool run() {
    const int64_t chunks = (bands_ + together_ - 1) / together_, parts = keeps_parts() ? std::min(kParts, chunks) : 1;
    Scratch<float> sums(parts * sums_size());
    parallel_for(parts, 1, [&](int64_t b, int64_t e) {
      Room room{Scratch<BFloat16>(together_ * lefts_ * left_size()), Scratch<BFloat16>(together_ * rights_ * right_size())};
      for (int64_t part = b; part < e; part++) {
        const int64_t first = chunks * part / parts;
        for (int64_t c = first; c < chunks * (part + 1) / parts; c++)
          add_bands(c * together_, std::min(together_, bands_ - c * together_), room, &sums[part * sums_size()], c > first);
      }
    });
    return write(sums.data(), parts);
  }

 private:
  // Bytes of what is read again and again, which is to stay in the second-level cache: panels of both sides, or all of the side that has fewer.
  static constexpr int64_t kCached = 512 << 10;
  static constexpr int64_t kParts = 8, kSmallSums = 512 << 10;  // bytes of sums of which each part of the windows keeps its own
  static constexpr int64_t kStep = kTileDepth;

  // How the positions of one axis see an image: from `begin` on every stride-th place, `steps` of them later than the first that any position sees.
  struct Moves {
    explicit Moves(const WindowAxis& a) : stride(a.stride) {
      auto floor = [&](int64_t v) { return v >= 0 ? v / a.stride : -((-v + a.stride - 1) / a.stride); };
      for (int64_t t = 0; t < a.taps; t++) {
        const int64_t place = a.place(0, t);
        steps.push_back(floor(place)), rest.push_back(place - floor(place) * a.stride);
      }
      first = *std::min_element(steps.begin(), steps.end()), span = *std::max_element(steps.begin(), steps.end()) - first;
      for (int64_t& s : steps) s -= first;
    }
    int64_t begin(int64_t tap) const { return first * stride + rest[tap]; }
    int64_t stride, first, span;
    std::vector<int64_t> steps, rest;
  };
  struct Phase {
    int64_t y, x;  // the place that it begins with
    bool operator==(const Phase& o) const { return y == o.y && x == o.x; }
  };
  struct Move { int64_t phase, offset; };
  struct Room { Scratch<BFloat16> left, right; };
  struct Place { int64_t image, row, column; };  // of a window

  bool keeps_parts() const { return sums_size() * int64_t(sizeof(float)) <= kSmallSums; }
  int64_t sums_size() const { return taps_ * lefts_ * rights_ * kTileStep; }
  int64_t pairs() const { return slots_ + furthest_; }  // of a phase
  int64_t left_size() const { return slots_ * kTileLines; }
  int64_t right_size() const { return int64_t(phases_.size()) * pairs() * kPairNumbers; }

  // Windows form bands of rows of one image.
  void divide() {
    constexpr int64_t kNumber = sizeof(BFloat16), kLine = kTileLines * kNumber;  // bytes of a window in a panel
    auto rounded = [](int64_t n) { return (n + kStep - 1) / kStep * kStep; };
    auto parts = [](int64_t n, int64_t by) { return (n + by - 1) / by; };
    const int64_t line = kLine * (1 + 2 * int64_t(phases_.size()));  // of both factors
    per_image_ = parts(down_.windows, std::max<int64_t>(kCached / (line * pitch_), 1));
    rows_ = parts(down_.windows, per_image_);
    slots_ = rounded(rows_ * pitch_);
    bands_ = images_ * per_image_;
    together_ = parts(bands_, parts(bands_, std::max<int64_t>(kCached / (line * slots_ * (keeps_parts() ? rights_ : 1)), 1)));
  }

  BFloat16* left_at(Room& room, int64_t panel, int64_t band) const { return &room.left[(panel * together_ + band) * left_size()]; }
  BFloat16* right_at(Room& room, int64_t panel, int64_t band) const { return &room.right[(panel * together_ + band) * right_size()]; }

  // sums = or += the products of `count` bands from `first` on. Panels of the side that has more of them are shared among threads, for packing as for products.
  void add_bands(int64_t first, int64_t count, Room& room, float* sums, bool add) const {
    parallel_for(lefts_, 1, [&](int64_t b, int64_t e) {
      for (int64_t i = 0; i < count; i++) pack_left(first + i, i, b, e, room);
    });
    parallel_for(rights_, 1, [&](int64_t b, int64_t e) {
      for (int64_t i = 0; i < count; i++)
        for (size_t phase = 0; phase < phases_.size(); phase++) pack_right(first + i, i, int64_t(phase), b, e, room);
    });
    auto block = [&](int64_t left, int64_t right, int64_t tap) {
      float* c = sums + ((tap * lefts_ + left) * rights_ + right) * kTileStep;
      const int64_t from = (moves_[tap].phase * pairs() + moves_[tap].offset) * kPairNumbers;
      begin_sums(c, kTileLines, add);
      for (int64_t i = 0; i < count; i++) add_pairs(left_at(room, left, i), right_at(room, right, i) + from, 2 * kPairNumbers, slots_ / kStep);
      end_sums(c, kTileLines);
    };
    // A panel of the output's is read again for each position.
    parallel_for(lefts_ * rights_, 1, [&](int64_t b, int64_t e) {
      Tiles tiles;
      for (int64_t j = b; j < e; j++)
        for (int64_t tap = 0; tap < taps_; tap++) block(j % lefts_, j / lefts_, tap);
    });
  }

  // f(slot, place) of a band's windows, one after the other.
  template <class F> void for_slots(int64_t band, int64_t count, F&& f) const {
    Place p{band / per_image_, band % per_image_ * rows_, 0};
    for (int64_t slot = 0; slot < count; slot++) {
      f(slot, p);
      if (++p.column == pitch_) p.column = 0, p.row++;
    }
  }

  void pack_left(int64_t band, int64_t at, int64_t begin, int64_t end, Room& room) const {
    const BFloat16* lines[kStep];
    const int64_t last = std::min(down_.windows, band % per_image_ * rows_ + rows_);
    for_slots(band, slots_, [&](int64_t slot, const Place& p) {
      const bool is_window = p.row < last && p.column < across_.windows;
      lines[slot % kStep] = is_window ? dy_ + ((p.image * down_.windows + p.row) * across_.windows + p.column) * out_ : zeros_.data();
      if (slot % kStep < kStep - 1) return;
      for (int64_t panel = begin; panel < end; panel++)
        pack_left_step(lines, panel * kTileLines, out_ - panel * kTileLines, kStep * out_, left_at(room, panel, at) + slot / kStep * kTileStep);
    });
  }

  void pack_right(int64_t band, int64_t at, int64_t phase, int64_t begin, int64_t end, Room& room) const {
    constexpr int64_t kLines = 64;
    const BFloat16* lines[kLines + 1];
    const int64_t count = pairs();
    int64_t n = 0, done = 0;  // lines that are there, pairs that are packed
    auto pack = [&](int64_t some) {
      for (int64_t panel = begin; panel < end; panel++)
        pack_pairs(lines, some, 1, panel * kTileLines, kLines * across_.stride * in_, right_at(room, panel, at) + (phase * count + done) * kPairNumbers);
      done += some;
    };
    for_slots(band, count + 1, [&](int64_t, const Place& p) {
      const int64_t y = phases_[phase].y + p.row * down_.stride, x = phases_[phase].x + p.column * across_.stride;
      const bool is_there = down_.covers(y) && across_.covers(x);
      lines[n++] = is_there ? x_ + ((p.image * down_.places + y) * across_.places + x) * in_ : zeros_.data();
      if (n <= kLines) return;
      pack(kLines);
      lines[0] = lines[kLines], n = 1;
    });
    if (n > 1) pack(n - 1);
  }

  bool write(const float* sums, int64_t parts) const {
    const Dims& stride = dw_.strides();
    std::atomic<bool> finite = true;
    parallel_for(out_, 1, [&](int64_t b, int64_t e) {
      std::vector<float> line(kTileLines);
      std::vector<BFloat16> bits(taps_ * kTileLines);
      uint32_t bad = 0;
      for (int64_t o = b; o < e; o++)
        for (int64_t right = 0; right < rights_; right++) {
          BFloat16* to = dw_.data<BFloat16>() + o * stride[0] + right * kTileLines * stride[1];
          for (int64_t tap = 0; tap < taps_; tap++) {
            const float* from = sums + ((tap * lefts_ + o / kTileLines) * rights_ + right) * kTileStep + o % kTileLines * kTileLines;
            for (int64_t c = 0; c < kTileLines; c++) line[c] = from[c];
            for (int64_t part = 1; part < parts; part++)
              for (int64_t c = 0; c < kTileLines; c++) line[c] += from[part * sums_size() + c];
            for (int64_t c = 0; c < kTileLines; c++) {
              uint32_t as;
              std::memcpy(&as, &line[c], sizeof as);
              bad |= uint32_t((as & 0x7f800000) == 0x7f800000);
            }
            round_to_bfloat16(line.data(), kTileLines, stride[1] == 1 ? to + tap / across_.taps * stride[2] + tap % across_.taps * stride[3] : &bits[tap * kTileLines]);
          }
          if (stride[1] == 1) continue;
          for (int64_t c = 0; c < kTileLines; c++)
            for (int64_t tap = 0; tap < taps_; tap++) to[c * stride[1] + tap / across_.taps * stride[2] + tap % across_.taps * stride[3]] = bits[tap * kTileLines + c];
        }
      if (bad) finite = false;
    });
    return finite;
  }

  const BFloat16 *x_, *dy_;
  Tensor dw_;
  int64_t images_, in_, out_;
  WindowAxis down_, across_;
  Scratch<BFloat16> zeros_;
  int64_t lefts_, rights_, taps_;     // panels of either side, positions of a window
  int64_t pitch_, furthest_;          // windows from one row to the next; of the furthest move
  std::vector<Phase> phases_;
  std::vector<Move> moves_;           // by position
  int64_t slots_, bands_, together_, rows_ = 0, per_image_ = 1;
};

/// Writes dw if this is the way, and false if it is not.
inline bool sum_by_tiles(const ConvolutionWeight& op, const Tensor& x, const Tensor& dy, const Tensor& dw) {
  return op.groups == 1 && suits_tiles(x, dy, dw) && WeightTiles(op, x, dy, dw).run();
}

}  // namespace WEIR_ISA
}  // namespace weir
