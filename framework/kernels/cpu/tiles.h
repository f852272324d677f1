// Products of bfloat16 matrices by AMX, whose tiles of 16 x 16 sums in float32 take 32 products each at a time.
//
// Factors are packed first. The lines of a factor, rows of the left one and columns of the right one, form panels of kTileLines, and the summed
// axis steps of kTileDepth; a step of a panel is two tiles side by side, kTileStep numbers in all. What is missing at the edges is zero.
#pragma once
#include "framework/kernels/cpu/matmul.h"

namespace weir {
namespace WEIR_ISA {

constexpr int64_t kTileLines = 32, kTileDepth = 32, kTileStep = kTileLines * kTileDepth;
inline int64_t tile_panels(int64_t lines) { return (lines + kTileLines - 1) / kTileLines; }
inline int64_t tile_steps(int64_t depth) { return (depth + kTileDepth - 1) / kTileDepth; }

/// Has this CPU tiles of bfloat16, and does the system let us use them? Nothing else here may be called where not.
bool has_tiles();

/// While one lives, its thread may multiply tiles.
class Tiles {
 public:
  Tiles();
  ~Tiles();
  Tiles(const Tiles&) = delete;
  Tiles& operator=(const Tiles&) = delete;
};

/// A factor as it lies in memory. One of the strides, of elements, is 1.
struct Factor {
  const BFloat16* data;
  int64_t lines, depth, line_stride, depth_stride;
};
/// Packs `steps` steps of one panel from step `first` on, of the left or the right factor. `to`: 64-byte aligned.
void pack_left(const Factor& x, int64_t panel, int64_t first, int64_t steps, BFloat16* to);
void pack_right(const Factor& x, int64_t panel, int64_t first, int64_t steps, BFloat16* to);
/// Room for packed factors, panel after panel.
struct Panels {
  int64_t steps;
  Tensor numbers;
  Panels(int64_t panels, int64_t steps) : steps(steps), numbers(empty(Dims{panels * steps * kTileStep}, DType::bfloat16)) {}
  BFloat16* at(int64_t panel, int64_t step = 0) const { return numbers.data<BFloat16>() + (panel * steps + step) * kTileStep; }
};
/// Rounds n numbers into `line` of a left panel of `steps` steps, zeros behind them.
void pack_left_row(const float* x, int64_t n, int64_t line, int64_t steps, BFloat16* panel);

/// One step of a left panel from numbers that lie line by line: line k of `lines`, of kTileDepth, holds numbers first.. of all lines of the factor,
/// of which the panel has the next kTileLines or `count`. What is wanted next lies `ahead` numbers behind, more often than not.
void pack_left_step(const BFloat16* const* lines, int64_t first, int64_t count, int64_t ahead, BFloat16* to);
/// kPairNumbers numbers of a right panel for each pair: numbers first.. of lines k and k + 1 side by side, k = 0, step, 2 step and so on.
constexpr int64_t kPairNumbers = 2 * kTileLines;
void pack_pairs(const BFloat16* const* lines, int64_t pairs, int64_t step, int64_t first, int64_t ahead, BFloat16* to);

/// Begins kTileLines x kTileLines sums, with zeros or with c (rows `ld` apart), and ends them.
void begin_sums(const float* c, int64_t ld, bool add);
void end_sums(float* c, int64_t ld);
/// Adds the products of a left panel and of pairs `row` numbers apart, kTileDepth / 2 to a step.
void add_pairs(const BFloat16* left, const BFloat16* pairs, int64_t row, int64_t steps);

/// c (kTileLines x kTileLines, rows `ld` apart) = or += the product of a left and a right panel over `steps` steps.
void multiply_panels(const BFloat16* left, const BFloat16* right, int64_t steps, float* c, int64_t ld, bool add);

/// The products of `count` lines of up to kTileLines as they lie in memory, dense along what is summed and `row` numbers apart, and a right panel over `steps`
/// steps, rounded to lines of kTileLines numbers `to_row` apart. All kTileLines lines are read.
void multiply_lines(const BFloat16* lines, int64_t row, const BFloat16* right, int64_t steps, int64_t count, BFloat16* to, int64_t to_row);

/// n numbers rounded to nearest even.
void round_to_bfloat16(const float* x, int64_t n, BFloat16* to);

/// The product `g`. Inputs have one dense axis each, and `out` dense rows; `bias` may be null.
void tile_gemm(const Gemm& g, const BFloat16* a, const BFloat16* w, const BFloat16* bias, BFloat16* out);

}  // namespace WEIR_ISA
}  // namespace weir
