"""`torch.lstm`, `torch.gru` and their kin: PyTorch's argument orders over the ops of ops/rnn.h."""
from _weir import Tensor, _argument, get_default_dtype, ops

_stack, _cell, _lstm_step = (ops["hidden"][name] for name in ("rnn_stack", "rnn_cell", "lstm_step"))


def _run(mode, args, named):
    packed = isinstance(args[1] if len(args) > 1 else named.get("batch_sizes"), Tensor) and (
        len(args) < 3 and "hx" in named or len(args) > 2 and not isinstance(args[2], bool) and (
            isinstance(args[2], Tensor) or mode == "lstm"))
    names = (("data", "batch_sizes") if packed else ("input",)) + (
        "hx", "params", "has_biases", "num_layers", "dropout", "train", "bidirectional") + (() if packed else ("batch_first",))
    given = dict(zip(names, args), **named)
    if len(args) > len(names) or given.keys() != set(names):
        raise TypeError(f"{mode}: expected the arguments {', '.join(names)}, got {', '.join(given)}")
    types = {"hx": "list[Tensor]" if mode == "lstm" else "Tensor", "params": "list[Tensor]", "num_layers": "int", "dropout": "float",
             "input": "Tensor", "data": "Tensor", "batch_sizes": "Tensor"}
    given = {key: _argument(mode, key, names.index(key) + 1, types.get(key, "bool"), given[key]) for key in names}
    hx = list(given["hx"]) if mode == "lstm" else [given["hx"]]
    if mode == "lstm" and len(hx) != 2:
        raise RuntimeError("lstm expects two hidden states")
    swap = not packed and given["batch_first"]
    data = [given["data"], given["batch_sizes"]] if packed else [given["input"].transpose(0, 1) if swap else given["input"]]
    output, *states = _stack([*data, *hx, *given["params"]], mode, given["num_layers"], given["has_biases"], given["dropout"],
                             given["train"], given["bidirectional"], packed)
    return (output.transpose(0, 1) if swap else output, *states)


def lstm(*args, **named):
    """(output, h_n, c_n) of `lstm(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first)`, or
    packed `lstm(data, batch_sizes, hx, params, has_biases, num_layers, dropout, train, bidirectional)`; hx is (h_0, c_0)."""
    return _run("lstm", args, named)


def gru(*args, **named):
    """(output, h_n); the arguments are lstm's, with one tensor hx."""
    return _run("gru", args, named)


def rnn_tanh(*args, **named):
    """(output, h_n); the arguments are lstm's, with one tensor hx."""
    return _run("tanh", args, named)


def rnn_relu(*args, **named):
    """(output, h_n); the arguments are lstm's, with one tensor hx."""
    return _run("relu", args, named)


def _check_hidden(input, hidden, size, label):
    if input.size(0) != hidden.size(0):
        raise RuntimeError(f"Input batch size {input.size(0)} doesn't match hidden{label} batch size {hidden.size(0)}")
    if hidden.size(1) != size:
        raise RuntimeError(f"hidden{label} has inconsistent hidden_size: got {hidden.size(1)}, expected {size}")


def _check_input(input, w_ih):
    if input.size(1) != w_ih.size(1):
        raise RuntimeError(f"input has inconsistent input_size: got {input.size(1)} expected {w_ih.size(1)}")


def _check_weights(w_ih, w_hh, gates):
    size = w_hh.size(1)
    for name, w in (("weight_ih", w_ih), ("weight_hh", w_hh)):
        if w.size(0) != gates * size:
            raise RuntimeError(f"{name} first dim must be {gates} * hidden_size = {gates * size}, but got {w.size(0)}")


def _check_gates(name, input):
    """PyTorch applies a gate's sigmoid in place, which whole numbers cannot hold."""
    if not (input.is_floating_point() or input.is_complex()):
        raise RuntimeError(f"{name}: result type {get_default_dtype()} can't be cast to the desired output type {input.dtype}")


def lstm_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    """(h, c) after one step. Shapes: (N, in), 2 x (N, hidden), (4 hidden, in), (4 hidden, hidden)."""
    if len(hx) != 2:
        raise RuntimeError("lstm_cell expects two hidden states")
    _check_input(input, w_ih)
    for label, state in enumerate(hx):
        _check_hidden(input, state, w_hh.size(1), label)
    _check_weights(w_ih, w_hh, 4)
    _check_gates("lstm_cell", input)
    return tuple(_lstm_step(input, hx[0], hx[1], w_ih, w_hh, b_ih, b_hh))


def _plain_cell(name, mode, gates):
    def cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
        if gates == 1:  # in another order than the others, as in PyTorch
            _check_weights(w_ih, w_hh, 1)
        _check_input(input, w_ih)
        _check_hidden(input, hx, w_hh.size(1), 0)
        _check_weights(w_ih, w_hh, gates)
        if gates == 1 and input.dim() > hx.dim():  # what comes of the input is added to the state in its place
            raise RuntimeError(f"{name}: an input of shape {list(input.shape)} does not fit a hidden state of shape {list(hx.shape)}")
        if gates > 1:
            _check_gates(name, input)
        return _cell(input, hx, w_ih, w_hh, b_ih, b_hh, mode)
    cell.__name__ = name
    cell.__doc__ = f"The hidden state after one step. Shapes: (N, in), (N, hidden), ({gates} hidden, in), ({gates} hidden, hidden)."
    return cell


gru_cell = _plain_cell("gru_cell", "gru", 3)
rnn_tanh_cell = _plain_cell("rnn_tanh_cell", "tanh", 1)
rnn_relu_cell = _plain_cell("rnn_relu_cell", "relu", 1)
