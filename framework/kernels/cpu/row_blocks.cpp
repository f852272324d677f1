#include "framework/op/row_blocks.h"

#include <algorithm>

#include "framework/core/parallel.h"
#include "framework/core/tensor.h"

namespace weir {
namespace WEIR_ISA {
namespace {

int64_t blocks_of_rows(const RowProgram& p) { return (p.rows + p.per_block - 1) / p.per_block; }

// One thread's tensors: those of a block, which move on from one to the next.
class Blocks {
 public:
  Blocks(const RowProgram& p, Inputs in, Outputs out) : p_(p), memory_(new_storage(p.block_bytes)) {
    for (const RowStep& s : p.steps) {
      for (const RowOperand& o : s.in) add(o, in, out);
      for (const RowOperand& o : s.out) add(o, in, out);
    }
  }

  void run(int64_t begin, int64_t end) {
    const int64_t in_a_row = blocks_of_rows(p_);
    for (int64_t b = begin; b < end; b++) {
      const int64_t first = b % in_a_row * p_.per_block;
      show(b / in_a_row, first, std::min(p_.per_block, p_.rows - first));
      size_t at = 0;
      for (const RowStep& s : p_.steps) {
        Inputs in(&tensors_[at], s.in.size());
        Outputs out(&tensors_[at + s.in.size()], s.out.size());
        s.type->kernels[int(DeviceType::cpu)](s.op.data(), in, out);
        at += s.in.size() + s.out.size();
      }
    }
  }

 private:
  struct Moving { size_t tensor; const RowOperand* operand; int64_t offset; };

  void add(const RowOperand& o, Inputs in, Outputs out) {
    if (o.place == RowOperand::none) return void(tensors_.emplace_back());
    if (o.whole) return void(tensors_.push_back(in[o.index]));
    const Tensor* given = o.place == RowOperand::input ? &in[o.index] : o.place == RowOperand::output ? &out[o.index] : nullptr;
    const int64_t offset = o.rows.offset + (given ? 0 : int64_t(o.begin / size_of(o.rows.dtype)));
    tensors_.push_back(alias(given ? (*given)->storage : memory_, o.rows.dtype, o.rows.sizes, o.rows.strides, offset));
    tensors_.back()->flags |= o.flags;
    moving_.push_back({tensors_.size() - 1, &o, offset});
  }

  void show(int64_t place, int64_t first, int64_t rows) {
    for (const Moving& m : moving_) {
      Tensor& t = tensors_[m.tensor];
      const RowOperand& o = *m.operand;
      int64_t offset = m.offset;
      if (o.place != RowOperand::block) {
        offset += first * o.row_stride;
        for (int64_t d = p_.outer.n, rest = place; d-- > 0; rest /= p_.outer[d]) offset += rest % p_.outer[d] * o.outer[d];
      }
      if (rows == shown_ || o.axis < 0) {
        t->offset = offset;
        continue;
      }
      Dims sizes = o.rows.sizes;
      sizes[o.axis] = rows;
      set_geometry(t, sizes, o.rows.strides, offset);
    }
    shown_ = rows;
  }

  const RowProgram& p_;
  StorageRef memory_;
  std::vector<Tensor> tensors_;  // step by step, inputs and outputs
  std::vector<Moving> moving_;
  int64_t shown_ = -1;
};

void row_blocks(const RowBlocks& op, Inputs in, Outputs out) {
  const RowProgram& p = *op.program;
  parallel_for(p.outer.product() * blocks_of_rows(p), 1, [&](int64_t b, int64_t e) { Blocks(p, in, out).run(b, e); });
}

const bool registered = [] {
  set_kernel<RowBlocks, row_blocks>(DeviceType::cpu);
  return true;
}();

}  // namespace
}  // namespace WEIR_ISA
}  // namespace weir
