#include <cstring>
#include <numeric>
#include <unordered_map>

#include "framework/graph/passes.h"

namespace weir::graph {
namespace {

void put(std::string& key, const Use& u, int value) {
  auto number = [&](int64_t x) { key.append(reinterpret_cast<const char*>(&x), sizeof x); };
  number(value);
  if (u.value < 0) return;
  number(u.flags);
  number(int(u.meta.dtype));
  number(u.meta.offset);
  number(u.meta.sizes.n);
  for (int64_t s : u.meta.sizes) number(s);
  for (int64_t s : u.meta.strides) number(s);
}

// Constants of equal bytes are one: Python numbers come as a new tensor each time.
void merge_constants(const Graph& g, std::vector<int>& stands_for) {
  constexpr size_t kMost = 256;
  std::unordered_map<std::string, int> known;
  for (size_t v = 0; v < g.values.size(); v++) {
    const Buffer& b = g.buffers[g.values[v].buffer];
    if (g.values[v].node >= 0 || b.kind != Kind::constant || b.bytes > kMost) continue;
    std::string bytes(reinterpret_cast<const char*>(b.storage->data), b.bytes);
    stands_for[v] = known.emplace(bytes, int(v)).first->second;
  }
}

}  // namespace

Graph without_repetition(const Graph& g) {
  std::vector<char> keep(g.nodes.size(), true);
  std::vector<int> stands_for(g.values.size());
  std::iota(stands_for.begin(), stands_for.end(), 0);
  merge_constants(g, stands_for);
  std::vector<int> count = versions(g);
  std::vector<char> shown = shown_buffers(g);
  std::unordered_map<std::string, int> known;
  for (size_t i = 0; i < g.nodes.size(); i++) {
    const Node& n = g.nodes[i];
    bool pure = !is_random(*n.type);
    // A result has memory of its own; a buffer that is changed later may not stand for another.
    for (const Use& u : n.out) pure = pure && count[g.buffer_of(u)] == 1 && g.buffers[g.buffer_of(u)].kind == Kind::temporary;
    if (!pure) continue;
    std::string key = str(n.type->signature->text, attributes_of(*n.type, n.op.data()), "|");
    for (const Use& u : n.in) put(key, u, u.value < 0 ? -1 : stands_for[u.value]);
    key += "|";
    for (const Use& u : n.out) put(key, u, 0);
    auto [it, fresh] = known.emplace(std::move(key), int(i));
    if (fresh) continue;
    bool result = false;
    for (const Use& u : n.out) result = result || shown[g.buffer_of(u)];
    if (result) continue;
    keep[i] = false;
    for (size_t k = 0; k < n.out.size(); k++) stands_for[n.out[k].value] = g.nodes[it->second].out[k].value;
  }
  return rebuilt(g, keep, stands_for);
}

}  // namespace weir::graph
