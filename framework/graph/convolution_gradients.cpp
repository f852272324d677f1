// The two gradients of a convolution of single places read one memory: as one node they can read it once.
#include "framework/graph/grouping.h"
#include "framework/graph/passes.h"

namespace weir::graph {
namespace {

// So many more channels out than in that most of what the two read is the gradient that both do. With twice as many nothing is won.
constexpr int64_t kWidening = 4;
bool reads_mostly_gradient(const Node& input, const Node& weight) {
  const Dims& w = input.in[1].meta.sizes;
  for (const char* name : {"stride", "padding", "dilation"})
    if (!(attribute<Dims>(input, name) == attribute<Dims>(weight, name))) return false;
  for (int i = 2; i < w.n; i++)
    if (w[i] != 1 || attribute<Dims>(input, "stride")[i - 2] != 1 || attribute<Dims>(input, "padding")[i - 2] != 0) return false;
  return attribute<int64_t>(input, "groups") == 1 && attribute<int64_t>(weight, "groups") == 1 && attribute<Dims>(weight, "weight_size") == w && w[0] >= kWidening * w[1] &&
         attribute<Dims>(input, "input_size") == weight.in[0].meta.sizes;
}

}  // namespace

Graph with_gradients_together(const Graph& g) {
  const Grouping order(g);
  const std::vector<std::vector<int>> readers = readers_of(g);
  Graph r = g;
  std::vector<char> keep(g.nodes.size(), true);
  for (size_t j = 0; j < g.nodes.size(); j++) {
    const Node& weight = g.nodes[j];
    if (!is(weight, "convolution_weight") || weight.in[1].value < 0 || weight.in[1].meta.dtype != DType::bfloat16) continue;
    for (int i : readers[weight.in[1].value]) {
      if (i < 0 || !keep[i] || !is(g.nodes[i], "convolution_input")) continue;
      const Node& input = g.nodes[i];
      if (input.in[0].value != weight.in[1].value || !same_place(input.in[0], weight.in[1]) || input.in[1].value < 0 || input.in[2].value >= 0 || weight.in[0].value == input.out[0].value) continue;
      if (!reads_mostly_gradient(input, weight) || i > int(j) || !order.may_run_at({i, int(j)}, int(j))) continue;
      Node f = as_op("convolution_gradients", weight);
      f.in = {weight.in[0], weight.in[1], input.in[1]};
      f.out = {input.out[0], weight.out[0]};
      r.nodes[j] = std::move(f);
      keep[i] = false;
      break;
    }
  }
  return rebuilt(r, keep);
}

}  // namespace weir::graph
