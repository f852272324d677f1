// Recurrent nets: a cell's step, and whole stacks of layers over (packed) sequences. All are compositions of linear maps and
// pointwise ops, so gradients of every order follow; an LSTM's gates are one op where they are of one precision,
// and so are all steps of a layer where its sequences end together. Source: Elman 1990 (RNN), Hochreiter and Schmidhuber 1997 and Sak et al. 2014
// (LSTM, projections), Cho et al. 2014 (GRU, with the reset gate after the product, as PyTorch has it).
#pragma once
#include "framework/op/call.h"

namespace weir {

struct RnnCell : Op {
  static constexpr Signature signature =
      "rnn_cell(input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None, b_hh: Tensor | None, mode: str) -> Tensor";
  static constexpr auto doc =
      "The next hidden state of a cell of mode 'tanh', 'relu' or 'gru'. Shapes: (*, in), (*, hidden), (gates * hidden, in), "
      "(gates * hidden, hidden) -> (*, hidden), with 3 gates for 'gru', else 1.";
  static constexpr Module module = Module::hidden;
  Str mode;
  static constexpr Fields fields{&RnnCell::mode};
  Tensor compose(Inputs in) const;
};

struct LstmCell : Op {
  static constexpr Signature signature =
      "lstm_step(input: Tensor, hx: Tensor, cx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None, b_hh: Tensor | None) -> (h: Tensor, c: Tensor)";
  static constexpr auto doc = "The next hidden and cell state. Shapes: (*, in), (*, hidden), (*, hidden), (4 hidden, in), (4 hidden, hidden).";
  static constexpr Module module = Module::hidden;
  Tensors compose(Inputs in) const;
};

struct LstmGates : Op {
  static constexpr Signature signature = "lstm_gates(gates_x: Tensor, gates_h: Tensor, c: Tensor) -> (h: Tensor, c_next: Tensor)";
  static constexpr auto doc =
      "What an LSTM cell makes of its four gates, the sum of gates_x and gates_h (*, 4 hidden), and its state c (*, hidden), in float32 or float64.";
  static constexpr Notation notation = "elements";
  static constexpr Module module = Module::hidden;
  static constexpr Save saves{.inputs = 0b111, .outputs = 0b10};
  std::array<Meta, 2> infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor&) const;
};

struct LstmGatesBackward : Op {
  static constexpr Signature signature =
      "lstm_gates_backward(grad_h: Tensor | None, grad_c: Tensor | None, gates_x: Tensor, gates_h: Tensor, c: Tensor, c_next: Tensor) -> (gates: Tensor, c: Tensor)";
  static constexpr auto doc = "Gradients of lstm_gates to the sum of the gates and to c.";
  static constexpr Notation notation = "elements";
  static constexpr Module module = Module::hidden;
  static constexpr GradientRule gradient{.exists = false};  // where a gradient of it is wanted, lstm_gates' is made of other ops
  std::array<Meta, 2> infer(Inputs in) const;
};

struct LstmLayer : Op {
  static constexpr Signature signature =
      "lstm_layer(gates_x: Tensor, w_hh: Tensor, b_hh: Tensor | None, h: Tensor, c: Tensor, reverse: bool) -> (y: Tensor, cells: Tensor, gates_h: Tensor)";
  static constexpr auto doc =
      "All steps of an LSTM, from the input's part of the gates (T, N, 4 hidden), w_hh (4 hidden, hidden) and the first states (N, hidden), in "
      "float32 or float64: the states of all steps (T, N, hidden), and the states' part of the gates, which its gradient needs and nobody else.";
  static constexpr Notation notation = "tng, gh, g, nh, nh -> tnh, tnh, tng | tngh";
  static constexpr Module module = Module::hidden;
  static constexpr Save saves{.inputs = 0b11111, .outputs = 0b111};
  bool reverse;
  static constexpr Fields fields{&LstmLayer::reverse};
  std::array<Meta, 3> infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor&) const;
};

struct LstmLayerBackward : Op {
  static constexpr Signature signature =
      "lstm_layer_backward(grad_y: Tensor | None, grad_cells: Tensor | None, gates_x: Tensor, gates_h: Tensor, cells: Tensor, w_hh: Tensor, c: Tensor, reverse: bool) -> (gates: Tensor, h: Tensor, c: Tensor)";
  static constexpr auto doc = "Gradients of lstm_layer to the gates, h and c.";
  static constexpr Notation notation = "tnh, tnh, tng, tng, tnh, gh, nh -> tng, nh, nh | tngh";
  static constexpr Module module = Module::hidden;
  static constexpr GradientRule gradient{.exists = false};  // where a gradient of it is wanted, lstm_layer's is made of other ops
  bool reverse;
  static constexpr Fields fields{&LstmLayerBackward::reverse};
  std::array<Meta, 3> infer(Inputs in) const;
};

struct GruLayer : Op {
  static constexpr Signature signature = "gru_layer(gates_x: Tensor, w_hh: Tensor, b_hh: Tensor | None, h: Tensor, reverse: bool) -> (y: Tensor, gates_h: Tensor)";
  static constexpr auto doc =
      "All steps of a GRU, from the input's part of the gates (T, N, 3 hidden), w_hh (3 hidden, hidden) and the first state (N, hidden), in "
      "float32 or float64: the state of all steps (T, N, hidden), and its part of the gates, which its gradient needs and nobody else.";
  static constexpr Notation notation = "tng, gh, g, nh -> tnh, tng | tngh";
  static constexpr Module module = Module::hidden;
  static constexpr Save saves{.inputs = 0b1111, .outputs = 0b11};
  bool reverse;
  static constexpr Fields fields{&GruLayer::reverse};
  std::array<Meta, 2> infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct GruLayerBackward : Op {
  static constexpr Signature signature =
      "gru_layer_backward(grad_y: Tensor, gates_x: Tensor, gates_h: Tensor, y: Tensor, w_hh: Tensor, h: Tensor, reverse: bool) -> (gates_x: Tensor, gates_h: Tensor, h: Tensor)";
  static constexpr auto doc = "Gradients of gru_layer to both parts of the gates and to h.";
  static constexpr Notation notation = "tnh, tng, tng, tnh, gh, nh -> tng, tng, nh | tngh";
  static constexpr Module module = Module::hidden;
  static constexpr GradientRule gradient{.exists = false};  // where a gradient of it is wanted, gru_layer's is made of other ops
  bool reverse;
  static constexpr Fields fields{&GruLayerBackward::reverse};
  std::array<Meta, 3> infer(Inputs in) const;
};

struct RnnLayer : Op {
  static constexpr Signature signature = "rnn_layer(gates_x: Tensor, w_hh: Tensor, b_hh: Tensor | None, h: Tensor, relu: bool, reverse: bool) -> Tensor";
  static constexpr auto doc =
      "All steps of a plain recurrent net, from the input's part of the sums (T, N, hidden), w_hh (hidden, hidden) and the first state "
      "(N, hidden), in float32 or float64: the state of all steps (T, N, hidden), by tanh or relu.";
  static constexpr Notation notation = "tng, gh, g, nh -> tnh | tngh";
  static constexpr Module module = Module::hidden;
  static constexpr Save saves{.inputs = 0b1010, .outputs = 0b1};
  bool relu, reverse;
  static constexpr Fields fields{&RnnLayer::relu, &RnnLayer::reverse};
  Meta infer(Inputs in) const;
  Tensors vjp(const Saved& s, const Tensor& dy) const;
};

struct RnnLayerBackward : Op {
  static constexpr Signature signature =
      "rnn_layer_backward(grad_y: Tensor, y: Tensor, w_hh: Tensor, relu: bool, reverse: bool) -> (sums: Tensor, h: Tensor)";
  static constexpr auto doc = "Gradients of rnn_layer to the sums and to h.";
  static constexpr Notation notation = "tng, tng, gh -> tng, nh | tngh";
  static constexpr Module module = Module::hidden;
  static constexpr GradientRule gradient{.exists = false};  // where a gradient of it is wanted, rnn_layer's is made of other ops
  bool relu, reverse;
  static constexpr Fields fields{&RnnLayerBackward::relu, &RnnLayerBackward::reverse};
  std::array<Meta, 2> infer(Inputs in) const;
};

struct RnnStack : Op {
  static constexpr Signature signature =
      "rnn_stack(tensors: list[Tensor], mode: str, num_layers: int, has_biases: bool, dropout: float, train: bool, bidirectional: bool, packed: bool) -> list[Tensor]";
  static constexpr auto doc =
      "Layers of cells of mode 'tanh', 'relu', 'gru' or 'lstm' over a sequence. `tensors` holds the input (T, N, in) or, packed, the "
      "data (sum of batch_sizes, in) and batch_sizes (T); the first hidden states (layers * directions, N, hidden), for 'lstm' the first cell "
      "states too; and of each layer and direction w_ih, w_hh, with biases b_ih, b_hh, and for an LSTM with projections w_hr. "
      "Returns the outputs of the last layer and the last states.";
  static constexpr Module module = Module::hidden;
  Str mode;
  int64_t num_layers;
  bool has_biases;
  double dropout;
  bool train, bidirectional, packed;
  static constexpr Fields fields{&RnnStack::mode, &RnnStack::num_layers, &RnnStack::has_biases, &RnnStack::dropout,
                                     &RnnStack::train, &RnnStack::bidirectional, &RnnStack::packed};
  Tensors compose(Inputs in) const;
};

using RnnOps = OpList<RnnCell, LstmCell, LstmGates, LstmGatesBackward, LstmLayer, LstmLayerBackward, GruLayer, GruLayerBackward, RnnLayer, RnnLayerBackward, RnnStack>;

namespace fn {
inline constexpr Fn<RnnCell> rnn_cell;
inline constexpr Fn<LstmCell> lstm_step;
inline constexpr Fn<LstmGates> lstm_gates;
inline constexpr Fn<LstmGatesBackward> lstm_gates_backward;
inline constexpr Fn<LstmLayer> lstm_layer;
inline constexpr Fn<LstmLayerBackward> lstm_layer_backward;
inline constexpr Fn<GruLayer> gru_layer;
inline constexpr Fn<GruLayerBackward> gru_layer_backward;
inline constexpr Fn<RnnLayer> rnn_layer;
inline constexpr Fn<RnnLayerBackward> rnn_layer_backward;
inline constexpr Fn<RnnStack> rnn_stack;
}  // namespace fn

}  // namespace weir
