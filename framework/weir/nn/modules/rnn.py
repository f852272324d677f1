"""Recurrent modules: they hold parameters and check shapes; the computation is the ops of ops/rnn.h. Source: torch.nn."""

import math
import numbers
import warnings

import weir
from weir import _recurrent
from weir.nn import init
from weir.nn.parameter import Parameter
from weir.nn.utils.rnn import PackedSequence

from .module import Module
from .rnn_cells import GRUCell, LSTMCell, RNNCell, RNNCellBase  # noqa: F401

__all__ = ["GRU", "GRUCell", "LSTM", "LSTMCell", "RNN", "RNNBase", "RNNCell", "RNNCellBase"]

_GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}
_FUNCTIONS = {"LSTM": _recurrent.lstm, "GRU": _recurrent.gru, "RNN_TANH": _recurrent.rnn_tanh, "RNN_RELU": _recurrent.rnn_relu}


def _check_options(dropout, num_layers, bias, batch_first, input_size, hidden_size, proj_size):
    if isinstance(dropout, bool) or not isinstance(dropout, numbers.Number) or not 0 <= dropout <= 1:
        raise ValueError("dropout should be a number in range [0, 1] representing the probability of an element being zeroed")
    if dropout > 0 and num_layers == 1:
        warnings.warn("dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects num_layers "
                      f"greater than 1, but got dropout={dropout} and num_layers={num_layers}", stacklevel=4)
    for name, value, kind in (("bias", bias, bool), ("batch_first", batch_first, bool), ("input_size", input_size, int),
                              ("hidden_size", hidden_size, int)):
        if not isinstance(value, kind):
            raise TypeError(f"{name} should be of type {kind.__name__}, got: {type(value).__name__}")
    for name, value in (("input_size", input_size), ("hidden_size", hidden_size), ("num_layers", num_layers)):
        if value <= 0:
            raise ValueError(f"{name} must be greater than zero")
    if proj_size < 0:
        raise ValueError("proj_size should be a positive integer or zero to disable projections")
    if proj_size >= hidden_size:
        raise ValueError("proj_size has to be smaller than hidden_size")


class RNNBase(Module):
    """Parameters and call of RNN, LSTM and GRU.

    Shapes: input (T, N, input_size), (N, T, input_size) with batch_first, (T, input_size) unbatched, or a PackedSequence; states
    (layers * directions, N, hidden_size or proj_size). Raises ValueError, TypeError and RuntimeError where PyTorch does.
    """

    def __init__(self, mode, input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0, bidirectional=False,
                 proj_size=0, device=None, dtype=None):
        super().__init__()
        _check_options(dropout, num_layers, bias, batch_first, input_size, hidden_size, proj_size)
        if mode not in _GATES:
            raise ValueError("Unrecognized RNN mode: " + mode)
        self.mode, self.input_size, self.hidden_size, self.num_layers = mode, input_size, hidden_size, num_layers
        self.bias, self.batch_first, self.dropout = bias, batch_first, float(dropout)
        self.bidirectional, self.proj_size = bidirectional, proj_size
        self._flat_weights_names, self._all_weights = [], []
        options = {"device": device, "dtype": dtype}
        for layer in range(num_layers):
            for suffix in ("", "_reverse")[:1 + bool(bidirectional)]:
                self._add_cell(layer, suffix, options)
        self.reset_parameters()

    def _add_cell(self, layer, suffix, options):
        gates, state = _GATES[self.mode] * self.hidden_size, self.proj_size or self.hidden_size
        width = self.input_size if layer == 0 else state * (2 if self.bidirectional else 1)
        shapes = {"weight_ih": (gates, width), "weight_hh": (gates, state)}
        if self.bias:
            shapes.update(bias_ih=(gates,), bias_hh=(gates,))
        if self.proj_size:
            shapes["weight_hr"] = (self.proj_size, self.hidden_size)
        names = [f"{name}_l{layer}{suffix}" for name in shapes]
        for name, shape in zip(names, shapes.values()):
            setattr(self, name, Parameter(weir.empty(shape, **options)))
        self._flat_weights_names += names
        self._all_weights.append(names)

    @property
    def _flat_weights(self):
        """What forward computes with: the parameters by their names, or what a program put in their place."""
        put = self.__dict__.get("_put_weights", {})
        return [put[name] if name in put else getattr(self, name, None) for name in self._flat_weights_names]

    @_flat_weights.setter
    def _flat_weights(self, weights):
        self.__dict__["_put_weights"] = {name: w for name, w in zip(self._flat_weights_names, weights) if w is not getattr(self, name, None)}

    def __setattr__(self, name, value):
        self.__dict__.get("_put_weights", {}).pop(name, None)
        super().__setattr__(name, value)

    def _init_flat_weights(self):
        """Computes with the parameters again, whatever a program put in their place."""
        self.__dict__.pop("_put_weights", None)
        self.flatten_parameters()

    def _apply(self, fn, recurse=True):
        super()._apply(fn, recurse)
        self._init_flat_weights()
        return self

    @property
    def all_weights(self):
        """The parameters of each layer and direction."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    def flatten_parameters(self):
        """Kept for PyTorch's interface: the ops take the parameters where they lie."""

    def reset_parameters(self):
        """Draws all parameters uniformly in +-1/sqrt(hidden_size)."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def check_input(self, input, batch_sizes):
        """Raises where the input's dtype, rank or width is wrong."""
        dtype = self._flat_weights[0].dtype
        if input.dtype != dtype and not weir.is_autocast_enabled():
            raise ValueError(f"RNN input dtype ({input.dtype}) does not match weight dtype ({dtype}). "
                             f"Convert input: input.to({dtype}), or convert model: model.to({input.dtype})")
        rank = 3 if batch_sizes is None else 2
        if input.dim() != rank:
            raise RuntimeError(f"input must have {rank} dimensions, got {input.dim()}")
        if input.size(-1) != self.input_size:
            raise RuntimeError(f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got {input.size(-1)}")

    def _expected_size(self, input, batch_sizes, width):
        batch = int(batch_sizes[0]) if batch_sizes is not None else input.size(0 if self.batch_first else 1)
        return self.num_layers * (2 if self.bidirectional else 1), batch, width

    def get_expected_hidden_size(self, input, batch_sizes):
        """(layers * directions, N, hidden_size or proj_size)."""
        return self._expected_size(input, batch_sizes, self.proj_size or self.hidden_size)

    def check_hidden_size(self, hx, expected_hidden_size, msg="Expected hidden size {}, got {}"):
        """RuntimeError unless hx has the expected shape."""
        if tuple(hx.shape) != tuple(expected_hidden_size):
            raise RuntimeError(msg.format(expected_hidden_size, list(hx.shape)))

    def check_forward_args(self, input, hidden, batch_sizes):
        """Raises where input or hidden states do not fit."""
        self.check_input(input, batch_sizes)
        self.check_hidden_size(hidden, self.get_expected_hidden_size(input, batch_sizes))

    def permute_hidden(self, hx, permutation):
        """The states with their batch axis reordered."""
        return hx if permutation is None else hx.index_select(1, permutation)

    def _states(self, hx):
        """hx as a list of tensors."""
        return [hx]

    def _joined(self, states):
        return states[0]

    def _check_rank(self, states, batched):
        wrong = next((s for s in states if s.dim() != (3 if batched else 2)), None)
        if wrong is not None:
            raise RuntimeError(f"For {'batched 3-D' if batched else 'unbatched 2-D'} input, hx should also be "
                               f"{3 if batched else 2}-D but got {wrong.dim()}-D tensor")

    def _zeros(self, input, batch_sizes):
        return self._joined([weir.zeros(self._expected_size(input, batch_sizes, width), dtype=input.dtype, device=input.device)
                             for width in self._widths()])

    def _widths(self):
        return [self.hidden_size]

    def forward(self, input, hx=None):
        """(output, states). Output: (T, N, directions * hidden_size or proj_size), laid out as the input is."""
        packed = isinstance(input, PackedSequence)
        batch_sizes = order = back = None
        batched, batch_dim = True, 0 if self.batch_first else 1
        if packed:
            input, batch_sizes, order, back = input
        else:
            if input.dim() not in (2, 3):
                raise ValueError(f"{type(self).__name__}: Expected input to be 2D or 3D, got {input.dim()}D tensor instead")
            batched = input.dim() == 3
            input = input if batched else input.unsqueeze(batch_dim)
            if hx is not None:
                self._check_rank(self._states(hx), batched)
                hx = hx if batched else self._joined([s.unsqueeze(1) for s in self._states(hx)])
        hx = self._zeros(input, batch_sizes) if hx is None else self.permute_hidden(hx, order)
        self.check_forward_args(input, hx, batch_sizes)
        options = (hx, self._flat_weights, self.bias, self.num_layers, self.dropout, self.training, bool(self.bidirectional))
        run = _FUNCTIONS[self.mode]
        output, *states = run(input, batch_sizes, *options) if packed else run(input, *options, self.batch_first)
        if not batched:
            output, states = output.squeeze(batch_dim), [s.squeeze(1) for s in states]
        if packed:
            output = PackedSequence(output, batch_sizes, order, back)
        return output, self.permute_hidden(self._joined(states), back)

    def extra_repr(self):
        shown = {"proj_size": 0, "num_layers": 1, "bias": True, "batch_first": False, "dropout": 0, "bidirectional": False}
        return ", ".join([f"{self.input_size}, {self.hidden_size}", *(
            f"{name}={getattr(self, name)}" for name, default in shown.items() if getattr(self, name) != default)])


def _no_projection(kwargs):
    if "proj_size" in kwargs:
        raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")


class RNN(RNNBase):
    """h' = tanh or relu of W_ih x + b_ih + W_hh h + b_hh. Source: Elman 1990."""

    def __init__(self, *args, **kwargs):
        _no_projection(kwargs)
        if len(args) > 3:
            nonlinearity, args = args[3], args[:3] + args[4:]
        else:
            nonlinearity = kwargs.pop("nonlinearity", "tanh")
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'.")
        super().__init__(f"RNN_{nonlinearity.upper()}", *args, **kwargs)
        self.nonlinearity = nonlinearity


class GRU(RNNBase):
    """Gated recurrent units. Source: Cho et al. 2014."""

    def __init__(self, *args, **kwargs):
        _no_projection(kwargs)
        super().__init__("GRU", *args, **kwargs)


class LSTM(RNNBase):
    """Long short-term memory; hx and the last states are pairs (h, c). Source: Hochreiter & Schmidhuber 1997."""

    def __init__(self, *args, **kwargs):
        super().__init__("LSTM", *args, **kwargs)

    def get_expected_cell_size(self, input, batch_sizes):
        """(layers * directions, N, hidden_size)."""
        return self._expected_size(input, batch_sizes, self.hidden_size)

    def check_forward_args(self, input, hidden, batch_sizes):
        """Raises where input, hidden or cell states do not fit."""
        self.check_input(input, batch_sizes)
        self.check_hidden_size(hidden[0], self.get_expected_hidden_size(input, batch_sizes), "Expected hidden[0] size {}, got {}")
        self.check_hidden_size(hidden[1], self.get_expected_cell_size(input, batch_sizes), "Expected hidden[1] size {}, got {}")

    def permute_hidden(self, hx, permutation):
        """The states with their batch axes reordered."""
        return hx if permutation is None else tuple(s.index_select(1, permutation) for s in hx)

    def _states(self, hx):
        return [hx[0], hx[1]]

    def _joined(self, states):
        return tuple(states)

    def _widths(self):
        return [self.proj_size or self.hidden_size, self.hidden_size]

    def _check_rank(self, states, batched):
        if any(s.dim() != (3 if batched else 2) for s in states):
            raise RuntimeError(f"For {'batched 3-D' if batched else 'unbatched 2-D'} input, hx and cx should also be "
                               f"{3 if batched else 2}-D but got ({states[0].dim()}-D, {states[1].dim()}-D) tensors")


def __getattr__(name):
    from weir.nn.modules._elsewhere import elsewhere
    return elsewhere(__name__)(name)
