"""The old name of Tensor."""
from weir._C import Tensor

Variable = VariableMeta = Tensor
