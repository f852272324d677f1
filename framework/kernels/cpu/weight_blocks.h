// Weights in the blocks that oneDNN's kernels read, and back. Its own copy took a thirtieth of a training step of ResNet50 in float32 and a
// twentieth in bfloat16, three times as long.
//
// A block holds [rows of one axis][columns of another] of items, which are floats, or pairs of bfloat16 along the rows' axis.
#pragma once
#include <cstring>
#include <dnnl.hpp>
#include <optional>

#include "framework/core/parallel.h"
#include "framework/core/tensor.h"
#include "framework/kernels/cpu/transpose.h"

namespace weir {
namespace WEIR_ISA {

class WeightBlocks {
 public:
  using Md = dnnl::memory::desc;

  /// The copy between a plain layout and blocks, if this is its case.
  static std::optional<WeightBlocks> of(const Md& from, const Md& to) {
    const bool packs = from.get_inner_nblks() == 0;
    const Md &plain = packs ? from : to, &blocks = packs ? to : from;
    const auto type = plain.get_data_type();
    const bool pairs = type == dnnl::memory::data_type::bf16;
    if (blocks.get_data_type() != type || !(pairs || type == dnnl::memory::data_type::f32) || plain.get_inner_nblks() != 0 || plain.get_dims() != blocks.get_dims()) return {};
    const auto axes = blocks.get_inner_idxs(), sizes = blocks.get_inner_blks(), dims = plain.get_dims(), here = plain.get_strides(), there = blocks.get_strides();
    const int n = int(axes.size());
    WeightBlocks r;
    int row_axis = -1, column_axis = -1;
    if (pairs && packs && n == 3 && axes[0] == axes[2] && sizes[2] == 2) {
      row_axis = axes[0], column_axis = axes[1], r.rows_ = sizes[0], r.columns_ = sizes[1];
    } else if (!pairs && n == 2) {
      row_axis = axes[0], column_axis = axes[1], r.rows_ = sizes[0], r.columns_ = sizes[1];
    } else if (!pairs && n == 1) {
      column_axis = axes[0], r.columns_ = sizes[0];
      for (int d = 0; d < int(dims.size()); d++)
        if (d != column_axis && there[d] == r.columns_ && dims[d] > 1) row_axis = d, r.rows_ = dims[d];
    }
    if (row_axis < 0 || row_axis == column_axis) return {};
    r.pairs_ = pairs, r.packs_ = packs, r.column_axis_ = column_axis;
    r.row_stride_ = here[row_axis], r.column_stride_ = here[column_axis], r.column_numbers_ = dims[column_axis];
    for (int d = 0; d < int(dims.size()); d++) {
      const int64_t numbers = d == row_axis ? r.rows_ * (1 + pairs) : d == column_axis ? r.columns_ : 1, count = (dims[d] + numbers - 1) / numbers;
      if (dims[d] % numbers && d != column_axis) return {};
      r.blocks_.push(count), r.here_.push(count > 1 ? here[d] * numbers : 0), r.there_.push(count > 1 ? there[d] : 0);
    }
    const int64_t last = (dims[column_axis] - 1) % r.columns_ + 1;
    r.turns_ = r.row_stride_ == 1;
    if (r.turns_ && (last < kLanes || r.rows_ < kLanes)) return {};
    if (!r.turns_ && r.column_stride_ != 1) return {};
    for (int64_t s : r.here_)
      if (pairs && r.turns_ && (s % 2 || r.column_stride_ % 2)) return {};
    if (pairs && !r.turns_ && last % kLanes) return {};
    return r;
  }

  void run(const void* from, void* to) const {
    const int64_t numbers = rows_ * columns_ * (1 + pairs_), item = pairs_ ? 2 : 4;
    parallel_for(blocks_.product(), std::max<int64_t>(kGrain / numbers, 1), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; i++) {
        int64_t rest = i, here = 0, there = 0, column = 0;
        for (int d = blocks_.n - 1; d >= 0; d--) {
          const int64_t k = rest % blocks_[d];
          here += k * here_[d], there += k * there_[d], rest /= blocks_[d];
          if (d == column_axis_) column = k * columns_;
        }
        const int64_t columns = std::min(columns_, column_numbers_ - column);
        if (packs_) pack(static_cast<const std::byte*>(from) + here * item, static_cast<std::byte*>(to) + there * item, columns);
        else unpack(static_cast<const std::byte*>(from) + there * item, static_cast<std::byte*>(to) + here * item, columns);
      }
    });
  }

 private:
  static constexpr int64_t kGrain = 1 << 14;  // numbers
  static constexpr int64_t kLanes = 16;

  void pack(const std::byte* from, std::byte* to, int64_t columns) const {
    if (columns < columns_) std::memset(to, 0, size_t(rows_ * columns_) * sizeof(uint32_t));
    if (turns_) {
      return turn_by<kLanes>(reinterpret_cast<const uint32_t*>(from), column_stride_ / (1 + pairs_), reinterpret_cast<uint32_t*>(to), columns_, columns, rows_);
    }
    for (int64_t k = 0; k < rows_; k++, to += columns_ * sizeof(uint32_t)) {
      if (pairs_) side_by_side(from + 2 * k * row_stride_ * sizeof(uint16_t), row_stride_ * sizeof(uint16_t), to, columns);
      else std::memcpy(to, from + k * row_stride_ * sizeof(uint32_t), size_t(columns) * sizeof(uint32_t));
    }
  }
  void unpack(const std::byte* from, std::byte* to, int64_t columns) const {
    if (turns_) return turn_by<kLanes>(reinterpret_cast<const uint32_t*>(from), columns_, reinterpret_cast<uint32_t*>(to), column_stride_, rows_, columns);
    for (int64_t k = 0; k < rows_; k++) std::memcpy(to + k * row_stride_ * sizeof(uint32_t), from + k * columns_ * sizeof(uint32_t), size_t(columns) * sizeof(uint32_t));
  }
  // Numbers of a line, and behind each of them that of the next.
  static void side_by_side(const std::byte* line, int64_t next, std::byte* to, int64_t n) {
    typedef uint16_t Shorts __attribute__((vector_size(kLanes * sizeof(uint16_t))));
    typedef uint32_t Words __attribute__((vector_size(kLanes * sizeof(uint32_t))));
    for (int64_t i = 0; i < n; i += kLanes) {
      Shorts first, second;
      std::memcpy(&first, line + i * sizeof(uint16_t), sizeof first), std::memcpy(&second, line + next + i * sizeof(uint16_t), sizeof second);
      const Words both = __builtin_convertvector(first, Words) | __builtin_convertvector(second, Words) << 16;
      std::memcpy(to + i * sizeof(uint32_t), &both, sizeof both);
    }
  }

  Dims blocks_, here_, there_;  // how many along each axis; from one to the next in the plain layout, and in that of blocks
  int64_t rows_ = 0, columns_ = 0, row_stride_ = 0, column_stride_ = 0, column_numbers_ = 0;
  int column_axis_ = 0;
  bool pairs_ = false, packs_ = true, turns_ = false;  // turns_: the plain layout has a column's items side by side
};

}  // namespace WEIR_ISA
}  // namespace weir
