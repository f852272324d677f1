// Windows over up to three axes: which places each of their positions sees.
#pragma once
#include <algorithm>
#include <cstdint>

namespace weir {
namespace WEIR_ISA {

/// One axis of windows: how many positions a window has, how many windows there are, and how many places they cover.
struct WindowAxis {
  int64_t taps = 1, windows = 1, places = 1, stride = 1, padding = 0, dilation = 1;
  int64_t place(int64_t window, int64_t tap) const { return window * stride + tap * dilation - padding; }
  bool covers(int64_t place) const { return place >= 0 && place < places; }
};

struct WindowAxes {
  WindowAxis z, y, x;
  int64_t taps() const { return z.taps * y.taps * x.taps; }
  int64_t windows() const { return z.windows * y.windows * x.windows; }
  int64_t places() const { return z.places * y.places * x.places; }

  /// f(place that the first one sees, first window, windows) for the windows whose position `tap` lies on the picture, row by row. The places of a row
  /// are x.stride apart; places, windows and positions count in row-major order.
  template <class F> void for_rows(int64_t tap, F&& f) const { for_rows(tap, 0, z.windows * y.windows, f); }
  /// The same for the rows of windows from `from` to before `to`.
  template <class F> void for_rows(int64_t tap, int64_t from, int64_t to, F&& f) const {
    const int64_t tap_x = tap % x.taps, tap_y = tap / x.taps % y.taps, tap_z = tap / x.taps / y.taps, start = x.place(0, tap_x);
    const int64_t first = start < 0 ? (-start + x.stride - 1) / x.stride : 0;
    const int64_t end = std::min(x.windows, start >= x.places ? 0 : (x.places - 1 - start) / x.stride + 1);
    if (first >= end) return;
    for (int64_t row = from, i = from / y.windows, j = from % y.windows; row < to; row++) {
      const int64_t plane = z.place(i, tap_z), line = y.place(j, tap_y);
      if (z.covers(plane) && y.covers(line)) f((plane * y.places + line) * x.places + first * x.stride + start, row * x.windows + first, end - first);
      if (++j == y.windows) j = 0, i++;
    }
  }
};

}  // namespace WEIR_ISA
}  // namespace weir
