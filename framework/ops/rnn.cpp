#include "framework/ops/rnn.h"

#include <algorithm>

#include "framework/ops/activation.h"
#include "framework/ops/functional.h"
#include "framework/ops/index.h"
#include "framework/ops/matmul.h"
#include "framework/ops/random.h"
#include "framework/ops/reduce.h"
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

State lstm_state(const Tensor& gates, const Tensor& c) {
  Tensors g = fn::chunk(gates, 4, -1);
  Tensor next = fn::sigmoid(g[1]) * c + fn::sigmoid(g[0]) * fn::tanh(g[2]);
  return {fn::sigmoid(g[3]) * fn::tanh(next), next};
}
/// Gradients to the gates (as h) and to c, made of ops that have gradients.
State lstm_gradient(const Tensor& gates, const Tensor& c, const Tensor& by_h, const Tensor& by_c) {
  Tensors g = fn::chunk(gates, 4, -1);
  Tensor i = fn::sigmoid(g[0]), f = fn::sigmoid(g[1]), candidate = fn::tanh(g[2]), o = fn::sigmoid(g[3]);
  Tensor t = fn::tanh(f * c + i * candidate), through_t = by_h ? by_h * o * (1.0 - t * t) : Tensor();
  Tensor by_next = by_c && through_t ? by_c + through_t : by_c ? by_c : through_t;
  Tensor by_o = by_h ? by_h * t * o * (1.0 - o) : o * 0.0;
  Tensor by_gates = fn::cat.over(Tensors{by_next * candidate * i * (1.0 - i), by_next * c * f * (1.0 - f), by_next * i * (1.0 - candidate * candidate), by_o}, -1)[0];
  return {by_gates, by_next * f};
}
void check_one_dtype(const char* name, Inputs in, DType type) {
  for (const Tensor& t : in) check(!t || t.dtype() == type, name, ": expected one dtype, got ", t ? name_of(t.dtype()) : "", " and ", name_of(type));
}
bool one_precision(const Tensor& x, const Tensor& h, const Tensor& c) {
  return x.dtype() == h.dtype() && x.dtype() == c.dtype() && (x.dtype() == DType::float32 || x.dtype() == DType::float64) &&
         x.sizes() == h.sizes();
}

int64_t gates_of(RnnMode mode) { return mode == RnnMode::lstm ? 4 : mode == RnnMode::gru ? 3 : 1; }

// Whether all steps are one op: sequences of one length, of states that fit the weights, in one precision.
bool is_layer(RnnMode m, const Weights& w, const Tensor& gates, const std::vector<int64_t>& sizes, const State& first) {
  const Tensor &h = first.h, &c = first.c;
  if (w.w_hr || sizes.front() != sizes.back() || h.ndim() != 2 || h.numel() == 0 || h.size(0) != sizes[0] || (c && c.sizes() != h.sizes())) return false;
  const int64_t n = gates.size(1);
  if (gates.size(0) != checked_mul(int64_t(sizes.size()), sizes[0]) || n != checked_mul(h.size(1), gates_of(m)) || w.w_hh.sizes() != Dims{n, h.size(1)} ||
      (w.b_hh && w.b_hh.sizes() != Dims{n}))
    return false;
  for (const Tensor& t : {gates, w.w_hh, w.b_hh, h, c})
    if (t && (t.dtype() != gates.dtype() || t.device().type != DeviceType::cpu)) return false;
  return !mode.autocast && (gates.dtype() == DType::float32 || gates.dtype() == DType::float64);
}
/// That op: the outputs (T, N, hidden), and the last state.
Tensor run_layer(RnnMode m, const Weights& w, const Tensor& gates, const State& first, bool reverse, State& last) {
  const int64_t end = reverse ? 0 : gates.size(0) - 1;
  Tensor y;
  if (m == RnnMode::lstm) {
    auto [states, cells, _] = fn::lstm_layer(gates, w.w_hh, w.b_hh, first.h, first.c, reverse);
    y = states, last.c = fn::select(cells, 0, end);
  } else if (m == RnnMode::gru) {
    auto [states, _] = fn::gru_layer(gates, w.w_hh, w.b_hh, first.h, reverse);
    y = states;
  } else {
    y = fn::rnn_layer(gates, w.w_hh, w.b_hh, first.h, m == RnnMode::relu, reverse);
  }
  last.h = fn::select(y, 0, end);
  return y;
}

// One step from the input's part of the gates, which a layer computes for all steps at once.
State step(RnnMode mode, const Weights& w, const Tensor& gates_x, const State& s) {
  Tensor gates_h = fn::linear(s.h, w.w_hh, w.b_hh);
  if (mode == RnnMode::tanh) return {fn::tanh(gates_x + gates_h), {}};
  if (mode == RnnMode::relu) return {fn::relu(gates_x + gates_h), {}};
  if (mode == RnnMode::gru) {
    check(gates_x.ndim() == gates_h.ndim(), "gru: expected an input and a hidden state of as many axes, but got ", gates_x.ndim(), " and ", gates_h.ndim());
    Tensors x = fn::chunk(gates_x, 3, -1), h = fn::chunk(gates_h, 3, -1);
    Tensor reset = fn::sigmoid(x[0] + h[0]), update = fn::sigmoid(x[1] + h[1]);
    Tensor candidate = fn::tanh(x[2] + h[2] * reset);
    return {(s.h - candidate) * update + candidate, {}};
  }
  State next;
  if (one_precision(gates_x, gates_h, s.c)) {
    auto [h, c] = fn::lstm_gates(gates_x, gates_h, s.c);
    next = {h, c};
  } else {
    next = lstm_state(gates_x + gates_h, s.c);
  }
  if (w.w_hr) next.h = fn::linear(next.h, w.w_hr);
  return next;
}

Tensor rows(const Tensor& t, int64_t start, int64_t length) {
  return start == 0 && length == t.size(0) ? t : fn::narrow(t, 0, start, length);
}
State rows(const State& s, int64_t start, int64_t length) {
  return {rows(s.h, start, length), s.c ? rows(s.c, start, length) : s.c};
}
// The states that the steps began with: `first`, and all of `states` but the last step's.
Tensor before_steps(const Tensor& states, const Tensor& first, bool reverse) {
  const int64_t n = states.size(0);
  Tensor one = fn::unsqueeze(first, 0);
  if (n == 1) return one;
  return fn::cat.over(reverse ? Tensors{fn::narrow(states, 0, 1, n - 1), one} : Tensors{one, fn::narrow(states, 0, 0, n - 1)}, 0)[0];
}
Tensor plus(const Tensor& a, const Tensor& b) { return a && b ? a + b : a ? a : b; }

Tensor joined(const Tensors& parts) { return parts.size() == 1 ? parts[0] : fn::cat.over(parts, 0)[0]; }
State below(const State& a, const State& b) {
  return {joined({a.h, b.h}), a.c ? joined({a.c, b.c}) : a.c};
}

// One direction of one layer over steps of `sizes[t]` rows each, which never grow with t. Returns the outputs, packed as the data.
Tensor run_direction(RnnMode mode, const Weights& w, const Tensor& data, const std::vector<int64_t>& sizes, const State& first, bool reverse,
                     State& last) {
  Tensor gates = fn::linear(data, w.w_ih, w.b_ih);
  const int64_t steps = int64_t(sizes.size());
  if (is_layer(mode, w, gates, sizes, first))
    return fn::flatten(run_layer(mode, w, fn::unflatten(gates, 0, Dims{steps, sizes[0]}), first, reverse, last), 0, 1);
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
  check<IndexError>(batch_sizes.ndim() > 0, "recurrent net: batch_sizes should be 1-d, got a tensor without dimensions");
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

std::array<Meta, 2> LstmGates::infer(Inputs in) const {
  const Tensor &x = in[0], &h = in[1], &c = in[2];
  Dims gates = c.sizes();
  check(c.ndim() > 0, "lstm_gates: c must have an axis of hidden numbers");
  gates[c.ndim() - 1] = checked_mul(gates[c.ndim() - 1], 4);
  check(x.sizes() == gates && h.sizes() == gates, "lstm_gates: expected gates of shape ", gates, ", got ", x.sizes(), " and ", h.sizes());
  check<NotImplemented>(one_precision(x, h, c), "lstm_gates: not implemented for ", name_of(x.dtype()), ", ", name_of(h.dtype()), " and ", name_of(c.dtype()));
  Meta m(c.sizes(), c.dtype(), c.device());
  return {m, m};
}
Tensors LstmGates::vjp(const Saved& s, const Tensor&) const {
  Tensor by_h = s.cotangent(0), by_c = s.cotangent(1), x = s.input(0), h = s.input(1), c = s.input(2);
  if (!mode.grad) {
    auto [gates, previous] = fn::lstm_gates_backward(by_h, by_c, x, h, c, s.output(1));
    return {gates, gates, previous};
  }
  State d = lstm_gradient(x + h, c, by_h, by_c);
  return {d.h, d.h, d.c};
}
std::array<Meta, 2> LstmGatesBackward::infer(Inputs in) const {
  const Tensor &gates = in[2], &c = in[4];
  for (int k : {0, 1}) check(!in[k] || in[k].sizes() == c.sizes(), "lstm_gates_backward: expected gradients of shape ", c.sizes());
  check_one_dtype("lstm_gates_backward", in, c.dtype());
  check(in[5].sizes() == c.sizes() && gates.sizes() == in[3].sizes() && gates.numel() == checked_mul(c.numel(), 4), "lstm_gates_backward: shapes do not fit");
  return {Meta(gates.sizes(), c.dtype(), c.device()), Meta(c.sizes(), c.dtype(), c.device())};
}

namespace {

// The state of all steps of a layer of `gates` per number of its state, from gates, w_hh, b_hh and the first states.
Meta layer_state(const char* name, RnnMode m, Inputs in) {
  const Tensor &x = in[0], &w = in[1], &b = in[2], &h = in[3];
  check(x.ndim() == 3 && h.ndim() == 2 && x.size(0) > 0, name, ": expected gates (T, N, ", gates_of(m), " hidden) and a state (N, hidden), got ", x.sizes(), " and ", h.sizes());
  const int64_t gates = checked_mul(h.size(1), gates_of(m));
  check(in.back().sizes() == h.sizes() && x.size(1) == h.size(0) && x.size(2) == gates && w.sizes() == Dims{gates, h.size(1)} && (!b || b.sizes() == Dims{gates}),
        name, ": shapes ", x.sizes(), ", ", w.sizes(), ", ", h.sizes(), " and ", in.back().sizes(), " do not fit");
  check<NotImplemented>(x.dtype() == DType::float32 || x.dtype() == DType::float64, name, ": not implemented for ", name_of(x.dtype()));
  for (const Tensor& t : in) check(!t || t.dtype() == x.dtype(), name, ": expected one dtype, got ", name_of(x.dtype()), " and ", t ? name_of(t.dtype()) : "");
  return Meta(Dims{x.size(0), h.size(0), h.size(1)}, x.dtype(), x.device());
}
// The gradients to gates and states come from the steps; the weights' are sums over all of them.
Tensor weights_gradient(const Tensor& gates, const Tensor& before) {
  return fn::matmul(fn::transpose(fn::flatten(gates, 0, 1), 0, 1), fn::flatten(before, 0, 1));
}
Tensor at_step(const Tensor& all, int64_t t) { return all ? fn::select(all, 0, t) : all; }
// f(t) for the steps of a layer from its last to its first.
template <class F> void back_through(int64_t steps, bool reverse, F&& f) {
  for (int64_t i = steps; i-- > 0;) f(reverse ? steps - 1 - i : i);
}

}  // namespace

std::array<Meta, 3> LstmLayer::infer(Inputs in) const {
  const Meta state = layer_state("lstm_layer", RnnMode::lstm, in);
  return {state, state, Meta(in[0].sizes(), in[0].dtype(), in[0].device())};
}
Tensors LstmLayer::vjp(const Saved& s, const Tensor&) const {
  const Tensor by_y = s.cotangent(0), by_cells = s.cotangent(1), x = s.input(0), w = s.input(1), h = s.input(3), c = s.input(4), y = s.output(0), cells = s.output(1);
  const Tensor before = before_steps(y, h, reverse);
  Tensor gates, by_h, by_c;
  if (!mode.grad) {
    auto [all, first_h, first_c] = fn::lstm_layer_backward(by_y, by_cells, x, s.output(2), cells, w, c, reverse);
    gates = all, by_h = first_h, by_c = first_c;
  } else {
    const Tensor sums = x + fn::linear(before, w, s.input(2)), states = before_steps(cells, c, reverse);
    const int64_t n = x.size(0);
    Tensors steps(static_cast<size_t>(n));
    back_through(n, reverse, [&](int64_t t) {
      State d = lstm_gradient(at_step(sums, t), at_step(states, t), plus(at_step(by_y, t), by_h), plus(at_step(by_cells, t), by_c));
      steps[t] = d.h, by_h = fn::matmul(d.h, w), by_c = d.c;
    });
    gates = fn::stack.over(steps, 0)[0];
  }
  return {gates, s.needs(1) ? weights_gradient(gates, before) : Tensor(), s.needs(2) ? fn::sum(gates, Dims{0, 1}) : Tensor(), by_h, by_c};
}
std::array<Meta, 3> LstmLayerBackward::infer(Inputs in) const {
  const Tensor &x = in[2], &cells = in[4], &c = in[6];
  for (int k : {0, 1}) check(!in[k] || in[k].sizes() == cells.sizes(), "lstm_layer_backward: expected gradients of shape ", cells.sizes());
  check_one_dtype("lstm_layer_backward", in, c.dtype());
  check(x.ndim() == 3 && cells.ndim() == 3 && x.sizes() == in[3].sizes() && x.numel() == checked_mul(cells.numel(), 4) && c.ndim() == 2 &&
            c.numel() == cells.size(1) * cells.size(2) && in[5].sizes() == Dims{x.size(2), c.size(1)},
        "lstm_layer_backward: shapes do not fit");
  Meta state(c.sizes(), c.dtype(), c.device());
  return {Meta(x.sizes(), x.dtype(), x.device()), state, state};
}

std::array<Meta, 2> GruLayer::infer(Inputs in) const { return {layer_state("gru_layer", RnnMode::gru, in), Meta(in[0].sizes(), in[0].dtype(), in[0].device())}; }
Tensors GruLayer::vjp(const Saved& s, const Tensor& dy) const {
  const Tensor x = s.input(0), w = s.input(1), h = s.input(3), y = s.output(0), before = before_steps(y, h, reverse);
  Tensor by_x, by_gates, by_h;
  if (!mode.grad) {
    auto [to_x, to_gates, first] = fn::gru_layer_backward(dy, x, s.output(1), y, w, h, reverse);
    by_x = to_x, by_gates = to_gates, by_h = first;
  } else {
    const Tensor gates = fn::linear(before, w, s.input(2));
    const int64_t n = x.size(0);
    Tensors to_x(static_cast<size_t>(n)), to_gates(static_cast<size_t>(n));
    back_through(n, reverse, [&](int64_t t) {
      const Tensors gx = fn::chunk(at_step(x, t), 3, -1), gh = fn::chunk(at_step(gates, t), 3, -1);
      const Tensor reset = fn::sigmoid(gx[0] + gh[0]), update = fn::sigmoid(gx[1] + gh[1]), candidate = fn::tanh(gx[2] + gh[2] * reset);
      const Tensor d = plus(at_step(dy, t), by_h), by_candidate = d * (1.0 - update) * (1.0 - candidate * candidate);
      const Tensor by_reset = by_candidate * gh[2] * reset * (1.0 - reset), by_update = d * (at_step(before, t) - candidate) * update * (1.0 - update);
      to_x[t] = fn::cat.over(Tensors{by_reset, by_update, by_candidate}, -1)[0];
      to_gates[t] = fn::cat.over(Tensors{by_reset, by_update, by_candidate * reset}, -1)[0];
      by_h = d * update + fn::matmul(to_gates[t], w);
    });
    by_x = fn::stack.over(to_x, 0)[0], by_gates = fn::stack.over(to_gates, 0)[0];
  }
  return {by_x, s.needs(1) ? weights_gradient(by_gates, before) : Tensor(), s.needs(2) ? fn::sum(by_gates, Dims{0, 1}) : Tensor(), by_h};
}
std::array<Meta, 3> GruLayerBackward::infer(Inputs in) const {
  const Tensor &dy = in[0], &x = in[1], &gates = in[2], &y = in[3], &w = in[4], &h = in[5];
  check_one_dtype("gru_layer_backward", in, h.dtype());
  check(x.ndim() == 3 && h.ndim() == 2 && x.sizes() == gates.sizes() && y.sizes() == Dims{x.size(0), h.size(0), h.size(1)} && dy.sizes() == y.sizes() &&
            x.numel() == checked_mul(y.numel(), 3) && w.sizes() == Dims{x.size(2), h.size(1)},
        "gru_layer_backward: shapes do not fit");
  const Meta m(x.sizes(), x.dtype(), x.device());
  return {m, m, Meta(h.sizes(), h.dtype(), h.device())};
}

Meta RnnLayer::infer(Inputs in) const { return layer_state("rnn_layer", relu ? RnnMode::relu : RnnMode::tanh, in); }
Tensors RnnLayer::vjp(const Saved& s, const Tensor& dy) const {
  const Tensor w = s.input(1), h = s.input(3), y = s.output(0);
  Tensor sums, by_h;
  if (!mode.grad) {
    auto [all, first] = fn::rnn_layer_backward(dy, y, w, relu, reverse);
    sums = all, by_h = first;
  } else {
    const Tensor slope = relu ? 1.0 - cast_to(y <= 0.0, y.dtype()) : 1.0 - y * y;
    const int64_t n = y.size(0);
    Tensors steps(static_cast<size_t>(n));
    back_through(n, reverse, [&](int64_t t) {
      steps[t] = plus(at_step(dy, t), by_h) * at_step(slope, t);
      by_h = fn::matmul(steps[t], w);
    });
    sums = fn::stack.over(steps, 0)[0];
  }
  return {sums, s.needs(1) ? weights_gradient(sums, before_steps(y, h, reverse)) : Tensor(), s.needs(2) ? fn::sum(sums, Dims{0, 1}) : Tensor(), by_h};
}
std::array<Meta, 2> RnnLayerBackward::infer(Inputs in) const {
  const Tensor &dy = in[0], &y = in[1], &w = in[2];
  check_one_dtype("rnn_layer_backward", in, y.dtype());
  check(y.ndim() == 3 && dy.sizes() == y.sizes() && y.size(0) > 0 && w.sizes() == Dims{y.size(2), y.size(2)}, "rnn_layer_backward: shapes ", dy.sizes(), ", ",
        y.sizes(), " and ", w.sizes(), " do not fit");
  return {Meta(y.sizes(), y.dtype(), y.device()), Meta(Dims{y.size(1), y.size(2)}, y.dtype(), y.device())};
}

Tensors RnnStack::compose(Inputs in) const {
  const RnnMode m = mode_of(mode.view());
  const size_t states = m == RnnMode::lstm ? 2 : 1, lead = (packed ? 2 : 1) + states;
  const int64_t directions = bidirectional ? 2 : 1, cells = checked_mul(num_layers, directions);
  const size_t biases = has_biases ? 4 : 2;
  check(states == 2 || in.size() < lead || (in.size() - lead) % biases == 0, "got an incorrect number of RNN parameters");
  for (size_t i = lead - states; i < std::min(lead, in.size()); i++)
    check<IndexError>(in[i].ndim() > (states == 2 ? 2 : 0), "recurrent net: states must be 3-d, got ", in[i].sizes());
  check(num_layers > 0, "recurrent net: num_layers must be positive, got ", num_layers);
  check(in.size() > lead, "recurrent net: got no weights");
  const size_t given = in.size() - lead, each = given / size_t(cells);
  check(given % size_t(cells) == 0 && (each == biases || (states == 2 && each == biases + 1)), "recurrent net: expected ", biases,
        " weights for each of ", cells, " cells, got ", given);
  const Tensor& x = in[0];
  if (!packed && (m == RnnMode::tanh || m == RnnMode::relu) && x.ndim() == 2 && in[1].ndim() == 2) {  // one sequence without a batch, as PyTorch's plain cells take it
    Tensors one(in.begin(), in.end());
    for (int i : {0, 1}) one[i] = fn::unsqueeze(one[i], int64_t(1));
    Tensors r = compose(one);
    for (Tensor& t : r) t = fn::squeeze(t, std::optional<Dims>(Dims{1}));
    return r;
  }
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
