"""AdaptiveLogSoftmaxWithLoss: a softmax over many classes, the rare ones in clusters. Source: Grave et al. 2017."""

from collections import namedtuple

import weir
import weir.nn.functional as F
from weir._ops import op

from .container import ModuleList, Sequential
from .linear import Linear
from .module import Module

__all__ = ["AdaptiveLogSoftmaxWithLoss"]

_in_range = op("hidden", "check_range")
_ASMoutput = namedtuple("_ASMoutput", ["output", "loss"])


class AdaptiveLogSoftmaxWithLoss(Module):
    """Log-probabilities of the targets (N) and their mean's negative. Shapes: input (N, in_features) or (in_features), target (N) or ().

    Classes below cutoffs[0] stand in the head; each further stretch is a cluster with a projection narrower by div_value. Raises
    ValueError for cutoffs that do not rise within [1, n_classes - 1].
    """

    def __init__(self, in_features, n_classes, cutoffs, div_value=4.0, head_bias=False, device=None, dtype=None):
        super().__init__()
        cutoffs = list(cutoffs)
        if not cutoffs:
            raise ValueError("cutoffs should be a sequence of length larger than 0")
        if (cutoffs != sorted(set(cutoffs)) or cutoffs[0] <= 0 or cutoffs[-1] > n_classes - 1
                or any(int(c) != c for c in cutoffs)):
            raise ValueError("cutoffs should be a sequence of unique, positive integers sorted in an increasing order, where each "
                             "value is between 1 and n_classes-1")
        self.in_features, self.n_classes, self.cutoffs = in_features, n_classes, cutoffs + [n_classes]
        self.div_value, self.head_bias = div_value, head_bias
        self.shortlist_size, self.n_clusters = cutoffs[0], len(cutoffs)
        self.head_size = self.shortlist_size + self.n_clusters
        options = {"device": device, "dtype": dtype}
        self.head = Linear(in_features, self.head_size, bias=head_bias, **options)
        self.tail = ModuleList()
        for i, (start, stop) in enumerate(zip(self.cutoffs, self.cutoffs[1:])):
            width = int(in_features // div_value ** (i + 1))
            self.tail.append(Sequential(Linear(in_features, width, bias=False, **options),
                                        Linear(width, stop - start, bias=False, **options)))

    def reset_parameters(self):
        """Draws all weights anew."""
        self.head.reset_parameters()
        for inner, outer in self.tail:
            inner.reset_parameters()
            outer.reset_parameters()

    def forward(self, input_, target_):
        """(output, loss): the log-probability of each target, and minus their mean."""
        if target_.dim() > 1:
            raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
        batched = target_.dim() == 1
        if batched and input_.size(0) != target_.size(0):
            raise RuntimeError("Input and target should have the same size in the batch dimension.")
        if input_.dim() != target_.dim() + 1:
            raise RuntimeError(f"{target_.dim()}D target tensor expects {target_.dim() + 1}D input tensors, but found inputs with size "
                               f"{input_.size()}")
        input, target = (input_, target_) if batched else (input_.unsqueeze(0), target_.unsqueeze(0))
        target = _in_range(target, 0, self.n_classes - 1, "Target values")
        output = self._head_part(input, target)
        for i, (start, stop) in enumerate(zip(self.cutoffs, self.cutoffs[1:])):
            rows = ((target >= start) & (target < stop)).nonzero().flatten()
            if rows.numel() == 0:
                continue
            logprob = F.log_softmax(self.tail[i](input.index_select(0, rows)), dim=1)
            within = (target.index_select(0, rows) - start).unsqueeze(1)
            output = output.index_add(0, rows, logprob.gather(1, within).squeeze(1))
        loss = (-output).mean()
        return _ASMoutput(output if batched else output.squeeze(0), loss)

    def _head_part(self, input, target):
        """The log-probabilities of each target's class, or of its cluster, in the head."""
        places = target.clone()
        for i, (start, stop) in enumerate(zip(self.cutoffs, self.cutoffs[1:])):
            places[(target >= start) & (target < stop)] = self.shortlist_size + i
        return F.log_softmax(self.head(input), dim=1).gather(1, places.unsqueeze(1)).squeeze(1)

    def log_prob(self, input):
        """Log-probabilities of all classes. Shape: (N, n_classes)."""
        return self._full_log_prob(input, self.head(input))

    def _full_log_prob(self, input, head_output):
        head = F.log_softmax(head_output, dim=1)
        clusters = [F.log_softmax(tail(input), dim=1) + head[:, self.shortlist_size + i].unsqueeze(1)
                    for i, tail in enumerate(self.tail)]
        return weir.cat([head[:, :self.shortlist_size], *clusters], 1)

    def predict(self, input):
        """The likeliest class of each row: of the shortlist where the head says so. Shape: (N)."""
        head = self.head(input)
        best = head.argmax(1)
        beyond = best >= self.shortlist_size
        if not bool(beyond.any()):
            return best
        return weir.where(beyond, self._full_log_prob(input, head).argmax(1), best)


def __getattr__(name):
    from weir.nn.modules._elsewhere import elsewhere
    return elsewhere(__name__)(name)
