#include "framework/op/fused.h"

#include <algorithm>
#include <memory>

#include "framework/kernels/cpu/loops.h"

namespace weir {
namespace WEIR_ISA {
namespace {

// How an input comes to the loops.
struct Source {
  enum Kind { dense, number, other } kind = dense;
  const std::byte* data = nullptr;
  std::unique_ptr<InOrder> gather;
};

std::vector<Source> sources(Inputs in, const Tensor& shape) {
  std::vector<Source> r;
  for (const Tensor& x : in) {
    Source s;
    s.data = x.raw();
    if (x.numel() == 1) s.kind = Source::number;
    else if (!(x.sizes() == shape.sizes()) || !same_layout(shape.sizes(), x.strides(), shape.strides())) {
      s.kind = Source::other;
      s.gather = std::make_unique<InOrder>(x, shape);
    }
    r.push_back(std::move(s));
  }
  return r;
}

// One thread's tiles: of what the steps hand on, of inputs in other layouts, and of operands in the type of a loop.
class Tiles {
 public:
  Tiles(const FusedProgram& p, const std::vector<Source>& in, Outputs out) : p_(p), in_(in), out_(out) {
    gathered_.resize(in.size());
    size_t count = p.num_slots + kMaxOperands;
    for (size_t k = 0; k < in.size(); k++)
      if (in[k].kind == Source::other) gathered_[k] = int(count++);
    memory_ = new_storage(count * kTile * kMaxItem);
  }

  void run(int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; b += kTile) {
      int64_t n = std::min(kTile, end - b);
      for (size_t k = 0; k < in_.size(); k++)
        if (in_[k].gather) in_[k].gather->run(b, b + n, tile(gathered_[k]));
      for (const FusedStep& step : p_.steps) run(step, b, n);
    }
  }

 private:
  std::byte* tile(int k) const { return memory_->data + size_t(k) * kTile * kMaxItem; }

  // Where operand `o` is, in its own dtype; `fixed`: as one number.
  std::byte* place(int o, int64_t begin, bool* fixed) const {
    const FusedOperand& x = p_.operands[o];
    if (x.output >= 0) return out_[x.output].raw() + begin * int64_t(size_of(x.dtype));
    if (x.input < 0) return tile(x.slot);
    const Source& s = in_[x.input];
    *fixed = s.kind == Source::number;
    if (s.kind == Source::other) return tile(gathered_[x.input]);
    return const_cast<std::byte*>(s.data) + (*fixed ? 0 : begin * int64_t(size_of(x.dtype)));
  }

  void run(const FusedStep& step, int64_t begin, int64_t n) {
    const void* in[kMaxOperands] = {};
    uint32_t all_fixed = 0;
    bool unused = false;
    std::byte* out = place(step.out, begin, &unused);
    DType out_dtype = p_.operands[step.out].dtype;
    if (!step.loop) {
      bool fixed = false;
      const std::byte* from = place(step.in[0], begin, &fixed);
      return convert(p_.operands[step.in[0]].dtype, from, fixed ? 0 : 1, out_dtype, out, 1, n);
    }
    for (size_t k = 0; k < step.in.size(); k++) {
      int o = step.in[k];
      if (o < 0) continue;
      bool fixed = false;
      in[k] = place(o, begin, &fixed);
      if (fixed) all_fixed |= 1u << k;
      if (p_.operands[o].dtype == step.tile) continue;
      std::byte* cast = tile(p_.num_slots + int(k));
      convert(p_.operands[o].dtype, in[k], fixed ? 0 : 1, step.tile, cast, 1, fixed ? 1 : n);
      in[k] = cast;
    }
    if (out_dtype == step.tile) return step.loop(step.op.data(), out, in, all_fixed, n);
    std::byte* result = tile(p_.num_slots + kMaxOperands - 1);
    step.loop(step.op.data(), result, in, all_fixed, n);
    convert(step.tile, result, 1, out_dtype, out, 1, n);
  }

  const FusedProgram& p_;
  const std::vector<Source>& in_;
  Outputs out_;
  std::vector<int> gathered_;
  StorageRef memory_;
};

void fused(const Fused& op, Inputs in, Outputs out) {
  std::vector<Source> from = sources(in, out[0]);
  parallel_for(out[0].numel(), kGrain, [&](int64_t b, int64_t e) { Tiles(*op.program, from, out).run(b, e); });
}

bool find_loop(const OpType& type, const void* op, Inputs in, DType out, FusedStep* step) {
  auto known = pointwise_ops().find(type.kernels);
  if (known == pointwise_ops().end() || in.size() >= kMaxOperands) return false;
  DType compute = known->second.computes(op, in, out);
  if (!is_floating(compute)) return false;  // loops of integers are chosen by values
  bool wide = compute == DType::float64;
  step->loop = wide ? known->second.loops.f64 : known->second.loops.f32;
  step->tile = wide ? DType::float64 : DType::float32;
  return step->loop != nullptr;
}

const bool registered = [] {
  set_kernel<Fused, fused>(DeviceType::cpu);
  fused_loop = find_loop;
  return true;
}();

}  // namespace
}  // namespace WEIR_ISA
}  // namespace weir
