#include "framework/graph/graph.h"

#include <algorithm>
#include <cstring>

namespace weir::graph {

std::string to_string(const Place& p) {
  if (!p.file) return "";
  return str(*p.file, ":", p.line, p.module && !p.module->empty() ? " in " + *p.module : "");
}

std::vector<int> Graph::last_values() const {
  std::vector<int> last(buffers.size(), -1);
  for (size_t v = 0; v < values.size(); v++) {
    int& at = last[values[v].buffer];
    if (at < 0 || values[v].node > values[at].node) at = int(v);
  }
  return last;
}

std::vector<int> Graph::written() const {
  std::vector<int> r;
  std::vector<int> last = last_values();
  for (size_t b = 0; b < buffers.size(); b++)
    if (buffers[b].kind != Kind::temporary && last[b] >= 0 && values[last[b]].node >= 0) r.push_back(int(b));
  return r;
}

int64_t first_byte(const Tensor& t) {
  const int64_t size = int64_t(size_of(t.dtype()));
  if (!t.numel()) return std::min(t->offset, int64_t(t->storage->bytes) / size) * size;
  return (t->offset + extent(t.sizes(), t.strides()).low) * size;
}

std::vector<Argument> memory_of(Inputs args, bool whole) {
  std::vector<Argument> r;
  for (size_t i = 0; i < args.size(); i++) {
    const Tensor& t = args[i];
    int64_t begin = first_byte(t), end = begin;
    if (t.numel()) end = (t->offset + extent(t.sizes(), t.strides()).high + 1) * int64_t(size_of(t.dtype()));
    auto same = std::find_if(r.begin(), r.end(), [&](const Argument& a) { return args[a.first]->storage == t->storage; });
    if (same == r.end()) {
      r.push_back({int(i), begin, 0, size_t(end - begin)});
      continue;
    }
    int64_t reach = std::max(same->base + int64_t(same->bytes), end);
    same->lead += std::max<int64_t>(same->base - begin, 0);
    same->base = std::min(same->base, begin);
    same->bytes = size_t(reach - same->base);
  }
  if (whole)
    for (Argument& a : r) a = {a.first, 0, a.base + a.lead, args[a.first]->storage->bytes};
  return r;
}

Use use_of(int value, const Tensor& t) {
  Use u;
  u.value = value;
  u.flags = t->flags & (kMarks | kWrappedNumber);
  u.meta = t.meta();
  return u;
}

Tensor tensor_over(const StorageRef& storage, const Use& use) {
  Tensor t = alias(storage, use.meta.dtype, use.meta.sizes, use.meta.strides, use.meta.offset);
  t->flags |= use.flags;
  return t;
}

bool covers(const Use& use, size_t bytes) {
  const Meta& m = use.meta;
  return m.offset == 0 && is_non_overlapping_and_dense(m.sizes, m.strides) &&
         size_t(m.sizes.product()) * size_of(m.dtype) == bytes;
}

}  // namespace weir::graph
