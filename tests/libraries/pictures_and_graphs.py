"""Kornia, Captum, diffusers and MONAI on pictures, PyTorch Geometric on graphs, Stable-Baselines3 on a pole."""
import kornia
import torch
from captum import attr
from diffusers import DDIMScheduler, DDPMScheduler, UNet2DModel
from monai.losses import DiceLoss
from monai.networks.nets import UNet
from stable_baselines3 import DQN, PPO
from torch import nn
from torch.nn import functional as F
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GATConv, GCNConv, GINConv, SAGEConv, TransformerConv, global_mean_pool


def filters():
    x = torch.rand(1, 3, 16, 16)
    print("kornia", kornia.filters.gaussian_blur2d(x, (3, 3), (1.0, 1.0))[0, 0, 0], kornia.geometry.rotate(x, torch.tensor([30.0]))[0, 0, 8])
    print("kornia", kornia.color.rgb_to_hsv(x)[0, :, 0, 0], kornia.losses.ssim_loss(x, x.flip(-1), 5))


def attributions():
    model, x = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 36, 3)), torch.rand(2, 1, 8, 8)
    print("captum", attr.IntegratedGradients(model).attribute(x, target=1, n_steps=8)[0, 0, 0].tolist(), attr.Saliency(model).attribute(x, target=0)[0, 0, 0].tolist())
    print("captum", attr.DeepLift(model).attribute(x, target=1)[0, 0, 0].tolist(), attr.LayerGradCam(model, model[0]).attribute(x, target=2)[0, 0, 0].tolist())


def diffusion():
    down, up = ("DownBlock2D", "AttnDownBlock2D"), ("AttnUpBlock2D", "UpBlock2D")
    model = UNet2DModel(sample_size=8, in_channels=1, out_channels=1, layers_per_block=1, block_out_channels=(8, 16), norm_num_groups=4, down_block_types=down, up_block_types=up)
    x, noise, at = torch.randn(2, 1, 8, 8), torch.randn(2, 1, 8, 8), torch.tensor([3, 7])
    loss = F.mse_loss(model(DDPMScheduler(num_train_timesteps=20).add_noise(x, noise, at), at).sample, noise)
    loss.backward()
    steps, y = DDIMScheduler(num_train_timesteps=20), torch.randn(1, 1, 8, 8)
    steps.set_timesteps(4)
    with torch.no_grad():
        for k in steps.timesteps:
            y = steps.step(model(y, k).sample, k, y).prev_sample
    print("diffusers", loss.item(), y[0, 0, 0])


def segments():
    loss = DiceLoss(to_onehot_y=True, softmax=True)(UNet(2, 1, 2, (4, 8), (2,), num_res_units=1)(torch.randn(1, 1, 16, 16)), torch.randint(0, 2, (1, 1, 16, 16)))
    loss.backward()
    print("monai", loss.item())


def graphs():
    edges, x = torch.tensor([[0, 1, 1, 2, 3, 0], [1, 0, 2, 1, 0, 3]]), torch.randn(4, 5)
    for layer in (GCNConv(5, 3), GATConv(5, 3, heads=2), SAGEConv(5, 3), GINConv(nn.Linear(5, 3)), TransformerConv(5, 3)):
        y = layer(x, edges)
        y.sum().backward()
        print("torch_geometric", y[0].tolist(), next(layer.parameters()).grad.sum())
    many = [Data(x=torch.randn(3, 5), edge_index=torch.tensor([[0, 1], [1, 2]]), y=torch.tensor([i % 2])) for i in range(6)]
    for batch in DataLoader(many, 3, shuffle=True):
        print("torch_geometric", global_mean_pool(batch.x, batch.batch), batch.y)


def agents():
    policy = PPO("MlpPolicy", "CartPole-v1", n_steps=64, batch_size=32, n_epochs=2, seed=0, device="cpu").learn(128).policy
    values = DQN("MlpPolicy", "CartPole-v1", learning_starts=20, seed=0, device="cpu", buffer_size=200).learn(60).policy
    print("stable_baselines3", *(f"{sum(p.abs().sum().item() for p in net.parameters()):.3f}" for net in (policy, values)))


if __name__ == "__main__":
    for part in (filters, attributions, diffusion, segments, graphs, agents):
        torch.manual_seed(0)
        part()
