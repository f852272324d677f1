"""A file in the manner of a model zoo: inverted residuals, constructors with keyword switches, evaluation, a saved file."""
import io
import json
from functools import partial
from typing import Callable, List, Optional

import torch
from torch import Tensor, nn

__all__ = ["TinyMobileNet", "tiny_mobilenet"]


class ConvNormActivation(nn.Sequential):
    def __init__(self, cin: int, cout: int, kernel_size: int = 3, stride: int = 1, groups: int = 1,
                 norm_layer: Optional[Callable[..., nn.Module]] = nn.BatchNorm2d,
                 activation_layer: Optional[Callable[..., nn.Module]] = nn.ReLU6) -> None:
        layers: List[nn.Module] = [nn.Conv2d(cin, cout, kernel_size, stride, (kernel_size - 1) // 2, groups=groups,
                                             bias=norm_layer is None)]
        if norm_layer is not None:
            layers.append(norm_layer(cout))
        if activation_layer is not None:
            layers.append(activation_layer(inplace=True))
        super().__init__(*layers)
        self.out_channels = cout


class InvertedResidual(nn.Module):
    def __init__(self, cin: int, cout: int, stride: int, expand: int, norm_layer: Callable[..., nn.Module]) -> None:
        super().__init__()
        hidden = cin * expand
        self.use_res_connect = stride == 1 and cin == cout
        self.conv = nn.Sequential(
            ConvNormActivation(cin, hidden, 1, norm_layer=norm_layer),
            ConvNormActivation(hidden, hidden, stride=stride, groups=hidden, norm_layer=norm_layer),
            nn.Conv2d(hidden, cout, 1, bias=False), norm_layer(cout))

    def forward(self, x: Tensor) -> Tensor:
        return x + self.conv(x) if self.use_res_connect else self.conv(x)


class TinyMobileNet(nn.Module):
    def __init__(self, num_classes: int = 10, norm_layer: Optional[Callable[..., nn.Module]] = None) -> None:
        super().__init__()
        norm_layer = norm_layer or partial(nn.BatchNorm2d, eps=0.001, momentum=0.01)
        self.features = nn.Sequential(
            ConvNormActivation(3, 8, stride=2, norm_layer=norm_layer), InvertedResidual(8, 8, 1, 2, norm_layer),
            InvertedResidual(8, 16, 2, 2, norm_layer))
        self.classifier = nn.Sequential(nn.Dropout(p=0.0), nn.Linear(16, num_classes))
        for m in self.modules():
            if isinstance(m, nn.Conv2d):
                nn.init.kaiming_normal_(m.weight, mode="fan_out")
            elif isinstance(m, (nn.BatchNorm2d, nn.GroupNorm)):
                nn.init.ones_(m.weight)
                nn.init.zeros_(m.bias)
            elif isinstance(m, nn.Linear):
                nn.init.normal_(m.weight, 0, 0.01)

    def forward(self, x: Tensor) -> Tensor:
        x = nn.functional.adaptive_avg_pool2d(self.features(x), (1, 1))
        return self.classifier(torch.flatten(x, 1))


def tiny_mobilenet(**kwargs) -> TinyMobileNet:
    return TinyMobileNet(**kwargs)


torch.manual_seed(0)
model = tiny_mobilenet(num_classes=4)
pictures, labels = torch.randn(16, 3, 16, 16), torch.arange(16) % 4
optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3, alpha=0.9, momentum=0.9, weight_decay=1e-5)
curve = []
for step in range(8):
    loss = nn.functional.cross_entropy(model(pictures), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    curve.append(loss.item())
file = io.BytesIO()
torch.save(model.state_dict(), file)
file.seek(0)
other = tiny_mobilenet(num_classes=4)
print(str(other.load_state_dict(torch.load(file, weights_only=True))) == "<All keys matched successfully>", flush=True)
other.eval()
with torch.inference_mode():
    curve += other(pictures)[0].tolist()
print(json.dumps(curve))
