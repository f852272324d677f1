"""The models. Each module is written once in PyTorch's API and takes the framework as a parameter, and once as a function
of named parameters, for frameworks that have no such API.

A model module offers `PRESETS` (name -> config), `build(torch, config)`, `loss(torch, model, batch)`,
`functional_loss(net, batch, config)`, `OPTIMIZER` (its name in torch.optim) and `settings(config, batch_size)` for it,
`initial(name, shape, rng)`, `synthetic_batch(rng, config, batch_size)` and `train_flop(config)`.
"""

from . import bert, resnet50

MODELS = {"resnet50": resnet50, "bert": bert}
