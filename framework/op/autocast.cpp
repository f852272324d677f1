// The autocast interpreter: casts the floating inputs of an op to the precision its class asks for.
// Source: https://pytorch.org/docs/stable/amp.html (CPU op lists).
#include <unordered_map>

#include "framework/op/autocast.h"

namespace weir {
namespace {

// Casts of parameters, kept while autocast is on: a weight used twice is cast once, and gradients flow through one cast.
thread_local std::unordered_map<TensorImpl*, std::pair<Tensor, Tensor>> casts;

Tensor cast(const Tensor& t, DType to) {
  static const OpType* op = find_op("to_dtype");
  alignas(16) std::byte attributes[64];
  std::memcpy(attributes, op->defaults.data(), op->size);
  std::memcpy(attributes + op->fields[1].offset, &to, sizeof to);
  Tensor out[1];
  call(*op, attributes, std::span(&t, 1), out);
  return out[0];
}

Tensor cached_cast(const Tensor& t, DType to) {
  if (!t || !is_floating(t.dtype()) || t.dtype() == to || t.dtype() == DType::float64 || t.has_flag(kWrappedNumber)) return t;
  // Only leaves of float32: an activation is cast once anyway, and keeping it would keep its memory. Source: cached_cast of autocast_mode.cpp.
  bool leaf = !t.is_view() && !(t->autograd && t->autograd->has_history());
  bool parameter = leaf && t.dtype() == DType::float32 && t.has_flag(kRequiresGrad) && to != DType::float32 && mode.grad;
  if (!parameter) return cast(t, to);
  auto it = casts.find(t.get());
  if (it != casts.end()) return it->second.second;
  Tensor c = cast(t, to);
  casts.emplace(t.get(), std::pair(t, c));
  return c;
}

void autocast(const OpType& type, const void* op, Inputs in, Tensor* out) {
  DType to = mode.autocast_dtype;
  if (type.autocast == Autocast::unchanged || out[0]) return call_below(Layer::autocast, type, op, in, out);
  if (type.autocast == Autocast::float32) to = DType::float32;
  if (type.autocast == Autocast::promote) {
    bool wide = false;
    for (const Tensor& t : in) {
      wide |= t && t.dtype() == DType::float32;
      // Source: prioritize in autocast_mode.h, which knows the low dtype only until it has met float32.
      bool known = wide || !t || !is_reduced(t.dtype()) || t.dtype() == to;
      check(known, type.signature->name, ": autocast promotes between float32 and ", name_of(to), ", got ", name_of(t ? t.dtype() : to));
    }
    if (wide) to = DType::float32;
  }
  struct Paused {  // the casts themselves, and the parts of a composite, are not autocast
    Paused() { mode.autocast = false; }
    ~Paused() { mode.autocast = true; }
  };
  Tensors cast_inputs(in.begin(), in.end());
  {
    Paused paused;
    if (type.autocast != Autocast::opaque)
      for (Tensor& t : cast_inputs) t = cached_cast(t, to);
    if (type.compose) return call_below(Layer::autocast, type, op, cast_inputs, out);
  }
  call_below(Layer::autocast, type, op, cast_inputs, out);
}

struct Install {
  Install() { set_interpreter(Layer::autocast, autocast); }
} install;

}  // namespace

void check_joinable(const char* op, DType t) {
  check(!mode.autocast || !is_reduced(t) || t == mode.autocast_dtype, op, ": autocast promotes between float32 and ", name_of(mode.autocast_dtype), ", got ",
        name_of(t));
}

void clear_autocast_cache() { casts.clear(); }

}  // namespace weir
