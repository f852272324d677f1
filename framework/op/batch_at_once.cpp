#include "framework/op/batch_at_once.h"

#include <cstring>

#include "framework/op/batch_layout.h"
#include "framework/op/changes.h"
#include "framework/op/copy.h"

namespace weir {
namespace {

// One call of a kernel for the whole batch, where the notation says how. Each way answers false, having done nothing, where it does not fit.
class AtOnce {
 public:
  AtOnce(const OpType& type, Kernel kernel, const void* op, Inputs in, Outputs out, const Axes& axes, RunKernel run)
      : type_(type), kernel_(kernel), op_(op), in_(in), out_(out), axes_(axes), run_(run) {}

  bool run() {
    if (axes_.size() + size_t(out_[0].ndim()) > 8 || (is_random(type_) && !all_draw(Randomness::different, axes_))) return false;
    if (&type_ == &op_type<Copy>()) return element_by_element();
    switch (type_.notation.kind) {
      case Notation::pointwise: return element_by_element();
      case Notation::elements: return alike() && element_by_element();
      case Notation::fill: return type_.inplace.offered && element_by_element();
      case Notation::move:
        if (has("pad")) return axes_in_front();  // which counts its axes from the last
        [[fallthrough]];
      case Notation::gather:
      case Notation::scatter: return has("dim") && axes_in_front();
      case Notation::along:
        if (std::strstr(type_.notation.text, " normalized_shape")) return lines_with_weights();
        [[fallthrough]];
      case Notation::reduce: return std::strstr(type_.notation.text, " dim") && has("dim") && axes_in_front();
      case Notation::matrices: return one_lead() && axes_in_front();
      case Notation::formula: return rows_of_linear() || axes_merged() || products();
      default: return false;
    }
  }

 private:
  bool batched(const Tensor& t) const { return t && t.is_batched(); }
  int param(std::string_view name) const {
    for (int i = 0; i < type_.signature->n; i++)
      if (type_.signature->params[i].name == name && !is_input(type_.signature->params[i].ty)) return i;
    return -1;
  }
  bool is_set(std::string_view flag) const {
    const int k = param(flag);
    return k >= 0 && static_cast<const std::byte*>(op_)[type_.fields[k].offset] != std::byte{0};
  }
  bool has(std::string_view name) const { return param(name) >= 0 || (name == "dim" && (param("dims") >= 0 || param("dim1") >= 0)); }

  bool alike() const {
    for (const Tensor& x : in_)
      if (x && (!(x.sizes() == out_[0].sizes()) || !x.is_contiguous())) return false;
    for (const Tensor& y : out_)
      if (!(y.sizes() == out_[0].sizes()) || !y.is_contiguous()) return false;
    return changed_inputs(type_, op_, in_).empty();
  }

  // Outputs as wholes, which a kernel that writes row by row can fill.
  bool outputs(Tensors& all) const {
    for (const Tensor& y : out_) {
      all.push_back(whole(y, axes_));
      if (type_.layouts == Layouts::row_major && !all.back().is_contiguous()) return false;
    }
    return true;
  }

  bool call(const OpType& type, const void* op, Tensors in) const {
    Tensors out;
    if (!outputs(out)) return false;
    for (size_t i = 0; i < in.size() && i < in_.size(); i++)  // in place stays in place
      if (in_[i] && in_[i] == out_[0] && in[i].sizes() == out[0].sizes()) in[i] = out[0];
    run_(type, type.kernels[int(DeviceType::cpu)], op, in, out);
    return true;
  }

  // Every input is broadcast to what an example's result is. Which dtype the kernel computes in may depend on which inputs are numbers of no
  // axes: what does not show that any more goes one by one.
  bool element_by_element() const {
    const Tensor* first = nullptr;
    for (const Tensor& x : in_) {
      if (!x || x.has_flag(kWrappedNumber)) continue;
      if (!first) first = &x;
      if (x.dtype() != first->dtype() && (x.ndim() == 0) != (first->ndim() == 0)) return false;
    }
    Tensors in;
    for (const Tensor& x : in_) in.push_back(!x || (x.has_flag(kWrappedNumber) && !batched(x)) ? x : whole(x, axes_, out_[0].sizes()));
    return call(type_, op_, std::move(in));
  }

  // Whether the axes in front of an example's matrices are the same for all inputs, so that nothing is broadcast.
  bool one_lead() const {
    const int lead = in_[0].ndim() - 2;
    for (const Tensor& x : in_) {
      if (!x) continue;
      if (x.ndim() < lead || x.ndim() > lead + 2) return false;
      for (int i = 0; i < lead; i++)
        if (x.sizes()[i] != in_[0].sizes()[i]) return false;
    }
    return true;
  }

  // The op's axes move behind those of the batch.
  bool axes_in_front() const {
    const int rank = in_[0] ? in_[0].ndim() : 0;
    const std::string_view name = type_.signature->name;
    if (name.starts_with("index_") && name != "index_select") return false;  // their index has one axis, whatever the input has
    if (rank == 0 || !changed_inputs(type_, op_, in_).empty()) return false;
    std::vector<std::byte> op(static_cast<const std::byte*>(op_), static_cast<const std::byte*>(op_) + type_.size);
    if (!shift(op.data(), rank)) return false;
    Tensors in;
    for (const Tensor& x : in_) {
      const bool index_only = name == "index_select" && in.size() == 1;
      if (x && index_only ? batched(x) : type_.notation.kind != Notation::matrices && x && x.ndim() != rank) return false;
      in.push_back(!x || index_only ? x : whole(x, axes_));
    }
    return call(type_, op.data(), std::move(in));
  }

  // Axes that an op is told, counted behind those of the batch.
  bool shift(std::byte* op, int rank) const {
    const int by = int(axes_.size());
    if (is_set("whole")) return false;
    const bool negative_is_clear = out_[0].ndim() == rank || type_.notation.kind == Notation::reduce;
    for (const char* name : {"dim", "dims", "dim1", "dim2"}) {
      const int k = param(name);
      if (k < 0) continue;
      std::byte* at = op + type_.fields[k].offset;
      auto moved = [&](int64_t d) { return (d < 0 ? d + rank : d) + by; };
      auto all = [&](Dims& dims) {
        for (int64_t& d : dims)
          if (d < 0 && !negative_is_clear) return false;
          else d = moved(d);
        if (dims.empty() && type_.notation.kind == Notation::reduce)
          for (int i = 0; i < rank; i++) dims.push(i + by);
        return true;
      };
      switch (type_.fields[k].ty) {
        case Ty::i64: {
          int64_t& d = *reinterpret_cast<int64_t*>(at);
          if (d < 0 && !negative_is_clear) return false;
          d = moved(d);
          break;
        }
        case Ty::ints:
          if (!all(*reinterpret_cast<Dims*>(at))) return false;
          break;
        case Ty::opt_ints: {
          auto& dims = *reinterpret_cast<std::optional<Dims>*>(at);
          if (!dims) dims = Dims();
          if (!all(*dims)) return false;
          break;
        }
        case Ty::opt_i64: {
          auto& d = *reinterpret_cast<std::optional<int64_t>*>(at);
          if (!d) return false;
          d = moved(*d);
          break;
        }
        default: return false;
      }
    }
    return true;
  }

  // Lines of the last axes, with weights that all examples share. Gradients of weights are sums over an example's lines.
  bool lines_with_weights() const {
    if (is_set("parameters")) return false;
    Tensors in;
    for (size_t i = 0, k = 0; i < in_.size(); i++, k++) {
      while (!is_input(type_.signature->params[k].ty)) k++;
      const std::string_view name = type_.signature->params[k].name;
      const bool shared = name == "weight" || name == "bias";
      if (shared && batched(in_[i])) return false;
      in.push_back(shared || !in_[i] ? in_[i] : whole(in_[i], axes_));
    }
    return call(type_, op_, std::move(in));
  }

  // "Xi, oi, o -> Xo": a capital letter stands for any axes, those of the batch too.
  bool rows_of_linear() const {
    const std::string_view text = type_.notation.text;
    if (text[0] < 'A' || text[0] > 'Z' || !text.ends_with('o') || text[0] != text[text.size() - 2] || out_.size() != 1) return false;
    for (size_t i = 1; i < in_.size(); i++)
      if (batched(in_[i])) return false;
    Tensors in(in_.begin(), in_.end());
    in[0] = whole(in_[0], axes_);
    return call(type_, op_, std::move(in));
  }

  // Where each tensor of the batch and each result begins with the axis of examples, `n` or `b`, and nothing else has it, the axes of the
  // batch are more of it: pictures of convolutions, matrices of products.
  bool axes_merged() const {
    const std::string_view text = type_.notation.text, results = text.substr(std::min(text.size(), text.find("->") + 3));
    const char letter = results.empty() ? 0 : results[0];
    if (letter != 'n' && letter != 'b') return false;
    for (size_t i = 1, at = 0; i < out_.size(); i++) {
      at = results.find(", ", at) + 2;
      if (results[at] != letter) return false;
    }
    std::vector<bool> has_it;
    size_t at = 0;
    for (const Tensor& x : in_) {
      const std::string_view term = text.substr(at, text.find_first_of(",-", at) - at);
      has_it.push_back(term.find(letter) != term.npos);
      if (x && (has_it.back() ? term[0] != letter : batched(x) || term.find_first_not_of(' ') == term.npos)) return false;
      at = text.find_first_not_of(' ', at + term.size() + 1);
    }
    Tensors in, out;
    for (const Tensor& y : out_) {
      out.push_back(merged(whole(y, axes_), false));
      if (!out.back()) return false;
    }
    for (size_t i = 0; i < in_.size(); i++) in.push_back(in_[i] && has_it[i] ? merged(whole(in_[i], axes_), true) : in_[i]);
    run_(type_, kernel_, op_, in, out);
    return true;
  }

  // A batch of "nm, mp -> np" is "bnm, bmp -> bnp", which is an op too.
  bool products() const {
    static const OpType *mm = find_op("mm"), *bmm = find_op("bmm");
    if (&type_ != mm || axes_.size() != 1) return false;
    return call(*bmm, bmm->defaults.data(), {whole(in_[0], axes_), whole(in_[1], axes_)});
  }

  // The batch's axes and the one behind them as one; by a copy, or undefined, where strides do not allow it.
  Tensor merged(const Tensor& t, bool may_copy) const {
    const int lead = int(axes_.size());
    Dims sizes, strides;
    int64_t n = 1, step = t.strides()[lead];
    bool even = true;
    for (int i = lead; i >= 0; i--) {
      even = even && (t.sizes()[i] == 1 || t.strides()[i] == checked_mul(n, step));
      n = checked_mul(n, t.sizes()[i]);
    }
    sizes.push(n);
    strides.push(step);
    for (int i = lead + 1; i < t.ndim(); i++) sizes.push(t.sizes()[i]), strides.push(t.strides()[i]);
    if (even) return shown(t, sizes, strides);
    if (!may_copy) return {};
    Tensor copy[1] = {unfilled(Meta(t.sizes(), t.dtype(), t.device()))};
    const OpType& type = op_type<Copy>();
    run_(type, type.kernels[int(DeviceType::cpu)], type.defaults.data(), std::array{copy[0], t}, Outputs(copy));
    return shown(copy[0], sizes, contiguous_strides(sizes));
  }

  const OpType& type_;
  Kernel kernel_;
  const void* op_;
  Inputs in_;
  Outputs out_;
  const Axes& axes_;
  RunKernel run_;
};

}  // namespace

bool run_at_once(const OpType& type, Kernel kernel, const void* op, Inputs in, Outputs out, const Axes& axes, RunKernel run) {
  return AtOnce(type, kernel, op, in, out, axes, run).run();
}

}  // namespace weir
