#include "framework/ops/rnn.h"

#include <algorithm>

#include "framework/ops/activation.h"
#include "framework/ops/functional.h"
#include "framework/ops/index.h"
#include "framework/ops/matmul.h"
#include "framework/ops/random.h"
#include "framework/ops/unary.h"
#include "framework/ops/view.h"

namespace weir {
namespace {

enum class RnnMode : uint8_t { tanh, relu, gru, lstm };
RnnMode mode_of(std::string_view name) {
  if (name == "tanh") return RnnMode::tanh;
  if (name == "relu") return RnnMode::relu;
  if (name == "gru") return RnnMode::gru;
  check<ValueError>(name == "lstm", "recurrent net: mode must be 'tanh', 'relu', 'gru' or 'lstm', got '", name, "'");
  return RnnMode::lstm;
}

struct Weights {
  Tensor w_ih, w_hh, b_ih, b_hh, w_hr;
};
struct State {
  Tensor h, c;  // c: LSTM only
};

// One step from the input's part of the gates, which a layer computes for all steps at once.
State step(RnnMode mode, const Weights& w, const Tensor& gates_x, const State& s) {
  Tensor gates_h = fn::linear(s.h, w.w_hh, w.b_hh);
  if (mode == RnnMode::tanh) return {fn::tanh(gates_x + gates_h), {}};
  if (mode == RnnMode::relu) return {fn::relu(gates_x + gates_h), {}};
  if (mode == RnnMode::gru) {
    Tensors x = fn::chunk(gates_x, 3, -1), h = fn::chunk(gates_h, 3, -1);
    Tensor reset = fn::sigmoid(x[0] + h[0]), update = fn::sigmoid(x[1] + h[1]);
    Tensor candidate = fn::tanh(x[2] + h[2] * reset);
    return {(s.h - candidate) * update + candidate, {}};
  }
  Tensors g = fn::chunk(gates_x + gates_h, 4, -1);
  Tensor c = fn::sigmoid(g[1]) * s.c + fn::sigmoid(g[0]) * fn::tanh(g[2]);
  Tensor h = fn::sigmoid(g[3]) * fn::tanh(c);
  return {w.w_hr ? fn::linear(h, w.w_hr) : h, c};
}

Tensor rows(const Tensor& t, int64_t start, int64_t length) {
  return start == 0 && length == t.size(0) ? t : fn::narrow(t, 0, start, length);
}
State rows(const State& s, int64_t start, int64_t length) {
  return {rows(s.h, start, length), s.c ? rows(s.c, start, length) : s.c};
}
Tensor joined(const Tensors& parts) { return parts.size() == 1 ? parts[0] : fn::cat.over(parts, 0)[0]; }
State below(const State& a, const State& b) {
  return {joined({a.h, b.h}), a.c ? joined({a.c, b.c}) : a.c};
}

// One direction of one layer over steps of `sizes[t]` rows each, which never grow with t. Returns the outputs, packed as the data.
Tensor run_direction(RnnMode mode, const Weights& w, const Tensor& data, const std::vector<int64_t>& sizes, const State& first, bool reverse,
                     State& last) {
  Tensor gates = fn::linear(data, w.w_ih, w.b_ih);
  const int64_t steps = int64_t(sizes.size());
  std::vector<int64_t> starts(sizes.size(), 0);
  for (int64_t t = 1; t < steps; t++) starts[t] = starts[t - 1] + sizes[t - 1];
  Tensors outputs(sizes.size());
  State s = rows(first, 0, reverse ? sizes.back() : sizes[0]);
  std::vector<State> ended;  // states of the sequences that are over, the shortest first
  for (int64_t i = 0; i < steps; i++) {
    int64_t t = reverse ? steps - 1 - i : i, n = sizes[t], before = s.h.size(0);
    if (n < before) {
      ended.push_back(rows(s, n, before - n));
      s = rows(s, 0, n);
    } else if (n > before) {
      s = below(s, rows(first, before, n - before));
    }
    s = step(mode, w, rows(gates, starts[t], n), s);
    outputs[t] = s.h;
  }
  for (auto e = ended.rbegin(); e != ended.rend(); ++e) s = below(s, *e);
  last = s;
  return joined(outputs);
}

std::vector<int64_t> read_sizes(const Tensor& batch_sizes, const Tensor& data) {
  check(batch_sizes.dtype() == DType::int64 && batch_sizes.ndim() == 1 && batch_sizes.device().type == DeviceType::cpu,
        "recurrent net: batch_sizes should always be a 1-d int64 tensor on the CPU, got ", batch_sizes.ndim(), "-d ", name_of(batch_sizes.dtype()));
  std::vector<int64_t> sizes(batch_sizes.numel());
  int64_t total = 0;
  for (size_t t = 0; t < sizes.size(); t++) {
    sizes[t] = batch_sizes.data<int64_t>()[int64_t(t) * batch_sizes.strides()[0]];
    check(sizes[t] > 0 && (t == 0 || sizes[t] <= sizes[t - 1]), "recurrent net: batch_sizes should be positive and in decreasing order");
    check(total <= data.size(0) - sizes[t], "recurrent net: batch_sizes hold more rows than the data's ", data.size(0));
    total += sizes[t];
  }
  check(!sizes.empty() && total == data.size(0), "recurrent net: batch_sizes hold ", total, " rows, but the data ", data.size(0));
  return sizes;
}

}  // namespace

Tensor RnnCell::compose(Inputs in) const {
  RnnMode m = mode_of(mode.view());
  check<ValueError>(m != RnnMode::lstm, "rnn_cell: an LSTM cell has two states");
  Weights w{in[2], in[3], in[4], in[5], {}};
  return step(m, w, fn::linear(in[0], w.w_ih, w.b_ih), {in[1], {}}).h;
}

Tensors LstmCell::compose(Inputs in) const {
  Weights w{in[3], in[4], in[5], in[6], {}};
  State s = step(RnnMode::lstm, w, fn::linear(in[0], w.w_ih, w.b_ih), {in[1], in[2]});
  return {s.h, s.c};
}

Tensors RnnStack::compose(Inputs in) const {
  const RnnMode m = mode_of(mode.view());
  const size_t states = m == RnnMode::lstm ? 2 : 1, lead = (packed ? 2 : 1) + states;
  const int64_t directions = bidirectional ? 2 : 1, cells = checked_mul(num_layers, directions);
  const size_t biases = has_biases ? 4 : 2;
  check(num_layers > 0, "recurrent net: num_layers must be positive, got ", num_layers);
  check(in.size() > lead, "recurrent net: got no weights");
  const size_t given = in.size() - lead, each = given / size_t(cells);
  check(given % size_t(cells) == 0 && (each == biases || (states == 2 && each == biases + 1)), "recurrent net: expected ", biases,
        " weights for each of ", cells, " cells, got ", given);
  const Tensor& x = in[0];
  check(x.ndim() == (packed ? 2 : 3), "recurrent net: input must be ", packed ? 2 : 3, "-d, got ", x.ndim(), "-d");
  check(packed || x.size(0) > 0, "Expected sequence length to be larger than 0 in RNN");
  const std::vector<int64_t> sizes = packed ? read_sizes(in[1], x) : std::vector<int64_t>(size_t(x.size(0)), x.size(1));
  const Tensor &h0 = in[lead - states], c0 = states == 2 ? in[lead - 1] : Tensor();
  for (const Tensor& s : {h0, c0})
    check(!s || (s.ndim() == 3 && s.size(0) == cells && s.size(1) == sizes[0]), "recurrent net: states must be (", cells, ", ", sizes[0],
          ", hidden), got ", s ? s.sizes() : Dims());

  Tensor data = packed ? x : fn::flatten(x, 0, 1);
  Tensors last_h, last_c;
  const Tensor* next = &in[lead];
  for (int64_t layer = 0; layer < num_layers; layer++) {
    Tensors outputs;
    for (int64_t d = 0; d < directions; d++, next += each) {
      Weights w{next[0], next[1], has_biases ? next[2] : Tensor(), has_biases ? next[3] : Tensor(), each > biases ? next[biases] : Tensor()};
      int64_t cell = layer * directions + d;
      State last, first{fn::select(h0, 0, cell), c0 ? fn::select(c0, 0, cell) : Tensor()};
      outputs.push_back(run_direction(m, w, data, sizes, first, d == 1, last));
      last_h.push_back(last.h);
      if (c0) last_c.push_back(last.c);
    }
    data = outputs.size() == 1 ? outputs[0] : fn::cat.over(outputs, -1)[0];
    if (layer + 1 == num_layers || dropout == 0 || !train) continue;
    // The mask is drawn for (T, N, features), as PyTorch draws it; the order is that of the packed rows.
    data = fn::dropout(data, dropout, train);
  }
  Tensors results{packed ? data : fn::unflatten(data, 0, Dims{x.size(0), x.size(1)}), fn::stack.over(last_h, 0)[0]};
  if (c0) results.push_back(fn::stack.over(last_c, 0)[0]);
  return results;
}

static const RnnOps::Registration ops;

}  // namespace weir
