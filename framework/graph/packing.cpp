#include <numeric>

#include "framework/graph/passes.h"
#include "framework/op/packing.h"

namespace weir::graph {

Graph with_weights_frozen(const Graph& g) {
  Graph r = g;
  std::vector<char> stays = shown_buffers(g);  // a caller is given the memory itself
  for (int b : g.written()) stays[b] = true;
  for (size_t b = 0; b < g.buffers.size(); b++) {
    Buffer& buffer = r.buffers[b];
    if (buffer.kind != Kind::external || stays[b]) continue;
    buffer.kind = Kind::constant;
    r.frozen.push_back({buffer.storage, buffer.storage->version});
  }
  return r;
}

Graph with_weights_packed(const Graph& g) {
  Graph r = g;
  for (Node& n : r.nodes) {
    auto found = packers().find(n.type);
    if (found == packers().end()) continue;
    const Packer& packer = found->second;
    const Buffer from = r.buffers[r.buffer_of(n.in[packer.input])];
    if (from.kind != Kind::constant) continue;
    Tensors in;
    for (const Use& u : n.in) in.push_back(u.value < 0 ? Tensor() : symbolic(u.meta));
    in[packer.input] = tensor_over(borrow_storage(from.storage->data, from.storage->bytes, [](void*) {}, nullptr), n.in[packer.input]);
    Packed packed = packer.pack(n.op.data(), in, symbolic(n.out[0].meta));
    if (!packed.type) continue;
    Buffer to = from;
    to.bytes = packed.data->storage->bytes, to.storage = packed.data->storage;
    r.buffers.push_back(to);
    r.values.push_back({int(r.buffers.size()) - 1, -1, -1});
    n.type = packed.type, n.op = packed.op;
    n.in[packer.input] = use_of(int(r.values.size()) - 1, packed.data);
  }
  std::vector<int> same(r.values.size());
  std::iota(same.begin(), same.end(), 0);
  return rebuilt(r, std::vector<char>(r.nodes.size(), true), same);
}

}  // namespace weir::graph
