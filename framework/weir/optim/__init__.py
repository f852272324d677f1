"""Optimizers and learning rate schedules, under PyTorch's names."""

from . import lr_scheduler  # noqa: F401
from .adaptive import Adadelta, Adagrad, Adamax, NAdam, RAdam, RMSprop  # noqa: F401
from .adam import Adam, AdamW  # noqa: F401
from .optimizer import Optimizer  # noqa: F401
from .sgd import SGD  # noqa: F401
