"""A one-stage detector on drawn boxes: anchors, IoU matching, focal and smooth L1 losses, and non-maximum suppression in tensor ops."""
import json
import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

torch.manual_seed(0)
SIZE, STRIDE = 64, 8


def box_area(boxes: Tensor) -> Tensor:
    return (boxes[:, 2] - boxes[:, 0]).clamp(min=0) * (boxes[:, 3] - boxes[:, 1]).clamp(min=0)


def box_iou(a: Tensor, b: Tensor) -> Tensor:
    lt = torch.max(a[:, None, :2], b[:, :2])
    rb = torch.min(a[:, None, 2:], b[:, 2:])
    inter = (rb - lt).clamp(min=0).prod(dim=2)
    return inter / (box_area(a)[:, None] + box_area(b) - inter)


def anchors() -> Tensor:
    ys, xs = torch.meshgrid(torch.arange(0, SIZE, STRIDE), torch.arange(0, SIZE, STRIDE), indexing="ij")
    centers = torch.stack((xs, ys, xs, ys), -1).reshape(-1, 1, 4) + STRIDE / 2
    sizes = torch.as_tensor([12.0, 24.0])
    ratios = torch.as_tensor([0.5, 1.0, 2.0])
    w = (sizes[:, None] * ratios.sqrt()).flatten()
    h = (sizes[:, None] / ratios.sqrt()).flatten()
    return (centers + torch.stack((-w, -h, w, h), dim=1).div(2)).reshape(-1, 4)


def encode(boxes: Tensor, ref: Tensor) -> Tensor:
    wh, rwh = boxes[:, 2:] - boxes[:, :2], ref[:, 2:] - ref[:, :2]
    c, rc = (boxes[:, 2:] + boxes[:, :2]) / 2, (ref[:, 2:] + ref[:, :2]) / 2
    return torch.cat(((c - rc) / rwh, torch.log(wh / rwh)), dim=1)


def decode(deltas: Tensor, ref: Tensor) -> Tensor:
    rwh, rc = ref[:, 2:] - ref[:, :2], (ref[:, 2:] + ref[:, :2]) / 2
    c = deltas[:, :2] * rwh + rc
    wh = deltas[:, 2:].clamp(max=math.log(1000.0 / 16)).exp() * rwh
    return torch.hstack((c - wh / 2, c + wh / 2)).clamp_(0, SIZE)


def nms(boxes: Tensor, scores: Tensor, threshold: float) -> Tensor:
    order = scores.argsort(descending=True, stable=True)
    keep = []
    while order.numel():
        first, order = order[0], order[1:]
        keep.append(first)
        order = order[box_iou(boxes[first].unsqueeze(0), boxes[order]).squeeze(0) <= threshold]
    return torch.stack(keep) if keep else torch.empty(0, dtype=torch.long)


def focal(logits, targets, alpha=0.25, gamma=2.0):
    p = logits.sigmoid()
    ce = F.binary_cross_entropy_with_logits(logits, targets, reduction="none")
    p_t = torch.where(targets == 1, p, 1 - p)
    return (torch.where(targets == 1, alpha, 1 - alpha) * (1 - p_t) ** gamma * ce).sum()


def sample(n=2):
    image = torch.zeros(3, SIZE, SIZE)
    tl = torch.randint(0, SIZE - 28, (n, 2))
    boxes = torch.cat((tl, tl + torch.randint(12, 28, (n, 2))), 1)
    labels = torch.randint(0, 3, (n,))
    for (x0, y0, x1, y1), label in zip(boxes.tolist(), labels):
        image[label, y0:y1, x0:x1] = 1.0
    return image, {"boxes": boxes.float(), "labels": labels}


class Detector(nn.Module):
    def __init__(self, classes=3, per_place=6):
        super().__init__()
        def block(i, o):
            return nn.Sequential(nn.Conv2d(i, o, 3, stride=2, padding=1, bias=False), nn.GroupNorm(4, o), nn.SiLU(inplace=True))
        self.body = nn.Sequential(block(3, 16), block(16, 24), block(24, 32))
        self.cls_logits = nn.Conv2d(32, classes * per_place, 3, padding=1)
        self.bbox_reg = nn.Conv2d(32, 4 * per_place, 3, padding=1)
        nn.init.constant_(self.cls_logits.bias, -math.log((1 - 0.01) / 0.01))
        for layer in (self.cls_logits, self.bbox_reg):
            torch.nn.init.normal_(layer.weight, std=0.01)
        self.register_buffer("anchors", anchors(), persistent=False)

    def forward(self, images):
        f = self.body(torch.stack(images) if isinstance(images, list) else images)
        n = f.shape[0]
        logits = self.cls_logits(f).permute(0, 2, 3, 1).reshape(n, -1, 3)
        return logits, self.bbox_reg(f).permute(0, 2, 3, 1).reshape(n, -1, 4)

    def loss(self, images, targets):
        logits, deltas = self(images)
        total = logits.new_zeros(())
        for l, d, t in zip(logits.unbind(0), deltas.unbind(0), targets):
            iou = box_iou(t["boxes"], self.anchors)
            best, match = iou.max(dim=0)
            match[best < 0.4] = -1
            match[(best >= 0.4) & (best < 0.5)] = -2
            match[iou.argmax(dim=1)] = torch.arange(len(iou))
            pos = torch.where(match >= 0)[0]
            wanted = torch.zeros_like(l)
            wanted[pos, t["labels"][match[pos]]] = 1.0
            valid = match != -2
            n = max(1, pos.numel())
            total = total + focal(l[valid], wanted[valid]) / n
            total += F.smooth_l1_loss(d[pos], encode(t["boxes"][match[pos]], self.anchors[pos]), beta=1 / 9, reduction="sum") / n
        return total / len(targets)

    @torch.no_grad()
    def detect(self, images, threshold=0.05, top=50):
        self.eval()
        for l, d in zip(*self(images)):
            scores, index = l.sigmoid().flatten().topk(top)
            index = index[scores > threshold]
            scores = scores[: len(index)]
            place, label = index.div(3, rounding_mode="floor"), index % 3
            boxes = decode(d[place], self.anchors[place])
            keep = nms(boxes + label[:, None].to(boxes) * 2 * SIZE, scores, 0.5)
            yield boxes[keep][:5], scores[keep][:5], label[keep][:5]


model = Detector()
opt = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9, weight_decay=1e-4, nesterov=True)
curve = []
for step in range(25):
    images, targets = zip(*(sample() for _ in range(4)))
    loss = model.loss(list(images), targets)
    opt.zero_grad(set_to_none=True)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 5.0)
    opt.step()
    curve.append(loss.item())
for boxes, scores, labels in model.detect(torch.stack(images[:2])):
    curve += [float(len(boxes)), *scores.tolist()[:2]]
print(json.dumps(curve))
