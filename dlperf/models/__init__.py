"""The models. Each module is written once in PyTorch's API and takes the framework as a parameter.

A model module offers `PRESETS` (name -> config), `build(torch, config)`, `loss(torch, model, batch)`,
`optimizer(torch, model, config, batch_size)`, `initial(name, shape, rng)`, `synthetic_batch(rng, config,
batch_size)` and `train_flop(config)`.
"""

from . import bert, resnet50

MODELS = {"resnet50": resnet50, "bert": bert}
