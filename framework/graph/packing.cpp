#include <numeric>

#include "framework/graph/passes.h"
#include "framework/op/packing.h"

namespace weir::graph {

Graph with_weights_frozen(const Graph& g) {
  Graph r = g;
  std::vector<char> written(g.buffers.size());
  for (int b : g.written()) written[b] = true;
  for (size_t b = 0; b < g.buffers.size(); b++)
    if (g.buffers[b].kind == Kind::external && !written[b]) r.buffers[b].kind = Kind::constant;
  return r;
}

Graph with_weights_packed(const Graph& g) {
  Graph r = g;
  std::vector<char> written(g.buffers.size());
  for (int b : g.written()) written[b] = true;
  for (Node& n : r.nodes) {
    auto found = packers().find(n.type);
    if (found == packers().end()) continue;
    const Packer& packer = found->second;
    const int b = r.buffer_of(n.in[packer.input]);
    const Buffer from = r.buffers[b];
    if ((from.kind != Kind::constant && from.kind != Kind::external) || written[b]) continue;
    Tensors in;
    for (const Use& u : n.in) in.push_back(u.value < 0 ? Tensor() : symbolic(u.meta));
    // While the program is traced nobody can read its externals, so the memory is shown by a storage of its own.
    in[packer.input] = tensor_over(borrow_storage(from.storage->data, from.storage->bytes, [](void*) {}, nullptr), n.in[packer.input]);
    Packed packed = packer.pack(n.op.data(), in, symbolic(n.out[0].meta));
    if (!packed.type) continue;
    if (from.kind == Kind::external) r.packed.push_back({from.storage, from.storage->version});
    Buffer to;
    to.kind = Kind::constant, to.bytes = packed.data->storage->bytes, to.device = from.device, to.storage = packed.data->storage;
    r.buffers.push_back(to);
    written.push_back(false);
    r.values.push_back({int(r.buffers.size()) - 1, -1, -1});
    n.type = packed.type, n.op = packed.op;
    n.in[packer.input] = use_of(int(r.values.size()) - 1, packed.data);
  }
  std::vector<int> same(r.values.size());
  std::iota(same.begin(), same.end(), 0);
  return rebuilt(r, std::vector<char>(r.nodes.size(), true), same);
}

}  // namespace weir::graph
