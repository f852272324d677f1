// oneDNN behind one door: primitives are cached by everything that shapes them.
//
// Making a primitive costs about as long as a small product, so each thread keeps the ones it made. Scratch memory
// and weights in blocked layouts live in the entry.
#pragma once
#include <dnnl.hpp>
#include <string>
#include <unordered_map>

#include "framework/core/parallel.h"
#include "framework/core/tensor.h"
#include "framework/kernels/cpu/weight_blocks.h"

namespace weir {
namespace WEIR_ISA {

using Md = dnnl::memory::desc;

inline dnnl::engine& onednn_engine() {
  static dnnl::engine e(dnnl::engine::kind::cpu, 0);
  return e;
}
inline dnnl::stream& onednn_stream() {
  thread_local dnnl::stream s(onednn_engine());
  starting_pool();
  return s;
}

inline dnnl::memory::data_type onednn_type(DType t) {
  using T = dnnl::memory::data_type;
  switch (t) {
    case DType::float32: return T::f32;
    case DType::bfloat16: return T::bf16;
    case DType::float16: return T::f16;
    default: return T::undef;
  }
}

/// Has oneDNN kernels of `t` on this CPU? Those of bfloat16 need AVX-512.
inline bool onednn_computes(DType t) {
  constexpr auto wide = unsigned(dnnl::cpu_isa::avx512_core);
  static const bool is_wide = (unsigned(dnnl::get_effective_cpu_isa()) & wide) == wide;
  return t == DType::float32 || (t == DType::bfloat16 && is_wide);
}

inline Md describe(const Dims& sizes, const Dims& strides, DType t) {
  return Md(dnnl::memory::dims(sizes.begin(), sizes.end()), onednn_type(t), dnnl::memory::dims(strides.begin(), strides.end()));
}
inline Md describe(const Tensor& t) { return describe(t.sizes(), t.strides(), t.dtype()); }
/// The layout is oneDNN's choice.
inline Md describe_any(const Dims& sizes, DType t) {
  return Md(dnnl::memory::dims(sizes.begin(), sizes.end()), onednn_type(t), dnnl::memory::format_tag::any);
}

/// Bytes that identify a primitive.
class Key {
 public:
  explicit Key(char kind) { bytes_ += kind; }
  Key& operator<<(int64_t x) {
    bytes_.append(reinterpret_cast<const char*>(&x), sizeof x);
    return *this;
  }
  Key& operator<<(const Dims& d) {
    *this << int64_t(d.n);
    bytes_.append(reinterpret_cast<const char*>(d.v), sizeof(int64_t) * d.n);
    return *this;
  }
  Key& operator<<(const Tensor& t) { return *this << t.sizes() << t.strides() << int64_t(t.dtype()); }
  const std::string& str() const { return bytes_; }

 private:
  std::string bytes_;
};

/// The entry for `key`, made by `make()` on first use on this thread.
template <class Entry, class Make> Entry& cached(const Key& key, Make&& make) {
  constexpr size_t kMost = 4096;
  thread_local std::unordered_map<std::string, Entry> all;
  auto it = all.find(key.str());
  if (it != all.end()) return it->second;
  if (all.size() >= kMost) all.clear();
  return all.emplace(key.str(), make()).first->second;
}

inline dnnl::memory wrap_memory(const Md& md, void* data) { return dnnl::memory(md, onednn_engine(), data); }
inline dnnl::memory wrap_memory(const Md& md, const Tensor& t) { return wrap_memory(md, t.numel() ? t.raw() : nullptr); }

/// One run of a primitive. oneDNN's own C++ interface makes two hash tables for each.
class Arguments {
 public:
  Arguments& add(int which, dnnl::memory memory) {
    all_[n_] = {which, memory.get()};
    kept_[n_++] = std::move(memory);
    return *this;
  }
  void run(const dnnl::primitive& p) const {
    dnnl::error::wrap_c_api(dnnl_primitive_execute(p.get(), onednn_stream().get(), n_, all_), "could not execute a primitive");
  }

 private:
  static constexpr int kMost = 10;
  dnnl::memory kept_[kMost];
  dnnl_exec_arg_t all_[kMost];
  int n_ = 0;
};

/// The copy from one layout into another, made again only where these change: looking oneDNN's own up takes longer than a small copy.
class Move {
 public:
  void run(const Md& from, dnnl::memory source, const Md& to, dnnl::memory target) {
    if (!(primitive_ || blocks_) || from != from_ || to != to_) {
      blocks_ = WeightBlocks::of(from, to);
      primitive_ = blocks_ ? dnnl::reorder() : dnnl::reorder({onednn_engine(), from, onednn_engine(), to});
      from_ = from, to_ = to;
    }
    if (blocks_) return blocks_->run(source.get_data_handle(), target.get_data_handle());
    Arguments().add(DNNL_ARG_FROM, std::move(source)).add(DNNL_ARG_TO, std::move(target)).run(primitive_);
  }

 private:
  Md from_, to_;
  dnnl::reorder primitive_;
  std::optional<WeightBlocks> blocks_;
};

/// Memory in the layout the primitive wants: the tensor's own, or a reordered temporary.
class Operand {
 public:
  Operand(const Md& have, const Md& want, const Tensor& t, bool read, Move& move) : have_(have), want_(want), tensor_(t), move_(move) {
    if (have == want) {
      memory = wrap_memory(want, t);
      return;
    }
    temporary_ = empty(Dims{int64_t(want.get_size())}, DType::uint8);
    memory = wrap_memory(want, temporary_);
    if (read) move.run(have, wrap_memory(have, t), want, memory);
  }
  /// Brings a result back into the tensor's layout.
  void finish() {
    if (temporary_) move_.run(want_, memory, have_, wrap_memory(have_, tensor_));
  }
  dnnl::memory memory;

 private:
  Md have_;
  const Md& want_;
  Tensor tensor_, temporary_;
  Move& move_;
};

}  // namespace WEIR_ISA
}  // namespace weir
