"""Batch and instance normalisation modules."""

import weir
import weir.nn.functional as F
from weir.nn.parameter import Parameter

from .module import Module

__all__ = ["BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d",
           "SyncBatchNorm"]


class _NormBase(Module):
    """Affine weights and running statistics, one per channel."""

    _version = 2  # num_batches_tracked came with version 2

    def __init__(self, num_features: int, eps: float = 1e-5, momentum=0.1, affine: bool = True,
                 track_running_stats: bool = True, device=None, dtype=None, *, bias: bool = True):
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        options = {"device": device, "dtype": dtype}
        for name, wanted in (("weight", affine), ("bias", affine and bias)):
            self.register_parameter(name, Parameter(weir.empty(num_features, **options)) if wanted else None)
        tracked = track_running_stats
        self.register_buffer("running_mean", weir.zeros(num_features, **options) if tracked else None)
        self.register_buffer("running_var", weir.ones(num_features, **options) if tracked else None)
        self.register_buffer("num_batches_tracked",
                             weir.tensor(0, dtype=weir.int64, device=device) if tracked else None)
        self.reset_parameters()

    def reset_running_stats(self):
        """Means 0, variances 1, no batches seen."""
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self):
        """Weights 1, biases 0 and fresh statistics."""
        self.reset_running_stats()
        if self.weight is not None:
            weir.nn.init.ones_(self.weight)
        if self.bias is not None:
            weir.nn.init.zeros_(self.bias)

    def _check_input_dim(self, input):
        raise NotImplementedError

    def _expect(self, input, *ranks):
        if input.dim() not in ranks:
            wanted = " or ".join(f"{r}D" for r in ranks)
            raise ValueError(f"expected {wanted} input (got {input.dim()}D input)")

    def extra_repr(self):
        return (f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
                f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}")

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs):
        version = local_metadata.get("version")
        key = prefix + "num_batches_tracked"
        if (version is None or version < 2) and self.track_running_stats and key not in state_dict:
            state_dict[key] = self.num_batches_tracked.detach().clone()
        super()._load_from_state_dict(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)


class _BatchNorm(_NormBase):
    def forward(self, input):
        self._check_input_dim(input)
        factor = 0.0 if self.momentum is None else self.momentum
        if self.training and self.track_running_stats and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:
                return self._averaging(input)
        batch_statistics = self.training or (self.running_mean is None and self.running_var is None)
        tracks = not self.training or self.track_running_stats
        return F.batch_norm(input, self.running_mean if tracks else None, self.running_var if tracks else None,
                            self.weight, self.bias, batch_statistics, factor, self.eps)


    def _averaging(self, input):
        """Running statistics as a plain average over all batches, whose number is not read: a trace has none."""
        batch = self.running_mean.clone(), self.running_var.clone()
        out = F.batch_norm(input, *batch, self.weight, self.bias, True, 1.0, self.eps)
        share = 1 / self.num_batches_tracked.double()
        with weir.no_grad():
            for running, now in zip((self.running_mean, self.running_var), batch):
                running.copy_((1 - share) * running.double() + share * now.double())
        return out


class BatchNorm1d(_BatchNorm):
    """Normalises (N, C) or (N, C, L) per channel over the batch. Source: Ioffe & Szegedy 2015."""

    def _check_input_dim(self, input):
        self._expect(input, 2, 3)


class BatchNorm2d(_BatchNorm):
    """Normalises (N, C, H, W) per channel over the batch."""

    def _check_input_dim(self, input):
        self._expect(input, 4)


class BatchNorm3d(_BatchNorm):
    """Normalises (N, C, D, H, W) per channel over the batch."""

    def _check_input_dim(self, input):
        self._expect(input, 5)


class SyncBatchNorm(_BatchNorm):
    """BatchNorm over the batches of all processes; with one process it is plain batch norm."""

    def __init__(self, num_features, eps=1e-5, momentum=0.1, affine=True, track_running_stats=True, process_group=None,
                 device=None, dtype=None, *, bias: bool = True):
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)
        self.process_group = process_group

    def _check_input_dim(self, input):
        if input.dim() < 2:
            raise ValueError(f"expected at least 2D input (got {input.dim()}D input)")
        if input.size(1) == 0:
            raise ValueError("SyncBatchNorm number of input channels should be non-zero")

    @classmethod
    def convert_sync_batchnorm(cls, module, process_group=None):
        """`module` with a SyncBatchNorm, of the same parameters and statistics, in the place of each batch norm in it; of a batch norm itself that one."""
        result = module
        if isinstance(module, _BatchNorm):
            result = SyncBatchNorm(module.num_features, module.eps, module.momentum, module.affine, module.track_running_stats, process_group,
                                   bias=module.bias is not None)
            for name in ("weight", "bias", "running_mean", "running_var", "num_batches_tracked", "training"):
                setattr(result, name, getattr(module, name))
            if hasattr(module, "qconfig"):
                result.qconfig = module.qconfig
        for name, child in module.named_children():
            result.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return result


class _InstanceNorm(_NormBase):
    _rank = 0

    def __init__(self, num_features: int, eps: float = 1e-5, momentum: float = 0.1, affine: bool = False,
                 track_running_stats: bool = False, device=None, dtype=None, *, bias: bool = True):
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)

    def _check_input_dim(self, input):
        self._expect(input, self._rank + 1, self._rank + 2)

    def forward(self, input):
        self._check_input_dim(input)
        batched = input if input.dim() == self._rank + 2 else input.unsqueeze(0)
        if batched.size(1) != self.num_features and self.affine:
            raise ValueError(f"expected input's size at dim=1 to match num_features ({self.num_features}), but got: "
                             f"{batched.size(1)}.")
        result = F.instance_norm(batched, self.running_mean, self.running_var, self.weight, self.bias,
                                 self.training or not self.track_running_stats, self.momentum or 0.0, self.eps)
        return result if batched is input else result.squeeze(0)


class InstanceNorm1d(_InstanceNorm):
    """Normalises every channel of every sample of (N, C, L). Source: Ulyanov et al. 2016."""

    _rank = 1


class InstanceNorm2d(_InstanceNorm):
    """Normalises every channel of every sample of (N, C, H, W)."""

    _rank = 2


class InstanceNorm3d(_InstanceNorm):
    """Normalises every channel of every sample of (N, C, D, H, W)."""

    _rank = 3


def __getattr__(name):
    from weir.nn.modules._elsewhere import elsewhere
    return elsewhere(__name__)(name)
