"""Gaussian processes, variational inference and Hamiltonian draws, normalizing flows, differential equations and equivariant nets."""
import gpytorch
import nflows.flows
import pyro
import pyro.distributions as dist
import torch
import torchdiffeq
import torchsde
import zuko
from e3nn import o3
from pyro.infer import MCMC, NUTS, SVI, Trace_ELBO
from torch import nn


class Exact(gpytorch.models.ExactGP):
    def __init__(self, x, y, likelihood):
        super().__init__(x, y, likelihood)
        self.mean, self.kernel = gpytorch.means.ConstantMean(), gpytorch.kernels.ScaleKernel(gpytorch.kernels.RBFKernel())

    def forward(self, x):
        return gpytorch.distributions.MultivariateNormal(self.mean(x), self.kernel(x))


def gaussian_process():
    x = torch.linspace(0, 1, 20)
    y, likelihood = torch.sin(6 * x) + 0.1 * torch.randn(20), gpytorch.likelihoods.GaussianLikelihood()
    model = Exact(x, y, likelihood)
    optimizer, evidence = torch.optim.Adam(model.parameters(), 0.1), gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)
    for _ in range(5):
        optimizer.zero_grad()
        loss = -evidence(model(x), y)
        loss.backward()
        optimizer.step()
        print(f"gpytorch {loss.item():.4f}")
    model.eval(), likelihood.eval()
    with torch.no_grad():
        seen = likelihood(model(torch.linspace(0, 1, 5)))
    print("gpytorch", seen.mean, seen.variance)


SIDES = torch.tensor([1.0] * 6 + [0.0] * 4)


def coin():
    share = pyro.sample("share", dist.Beta(10.0, 10.0))
    with pyro.plate("throws", 10):
        pyro.sample("side", dist.Bernoulli(share), obs=SIDES)


def guess():
    a, b = (pyro.param(name, torch.tensor(15.0), constraint=dist.constraints.positive) for name in "ab")
    pyro.sample("share", dist.Beta(a, b))


def inference():
    pyro.clear_param_store()
    search = SVI(coin, guess, pyro.optim.Adam({"lr": 0.01}), Trace_ELBO())
    print("pyro", [f"{search.step():.4f}" for _ in range(10)], pyro.param("a").item(), pyro.param("b").item())
    draws = MCMC(NUTS(coin), num_samples=8, warmup_steps=5, disable_progbar=True)
    draws.run()
    print("pyro", draws.get_samples()["share"])


def flows():
    spline = zuko.flows.NSF(2, context=1, transforms=2, hidden_features=(8, 8))
    loss = -spline(torch.ones(1)).log_prob(torch.randn(6, 2)).mean()
    loss.backward()
    print("zuko", loss.item(), spline(torch.ones(1)).sample((2,)))
    print("nflows", nflows.flows.MaskedAutoregressiveFlow(2, 8, 2, 1).log_prob(torch.randn(4, 2)).tolist())


class Field(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 2))

    def forward(self, t, y):
        return self.net(y)


class Noisy(nn.Module):
    noise_type, sde_type = "diagonal", "ito"

    def __init__(self):
        super().__init__()
        self.a = nn.Parameter(torch.tensor(0.5))

    def f(self, t, y):
        return self.a * torch.sin(t) * y

    def g(self, t, y):
        return 0.3 * torch.sigmoid(torch.cos(t) * torch.exp(-y))


def equations():
    field, times = Field(), torch.linspace(0, 1, 5)
    y = torchdiffeq.odeint_adjoint(field, torch.ones(3, 2), times, method="dopri5")
    y.sum().backward()
    print("torchdiffeq", y[-1].tolist(), field.net[0].weight.grad[0], torchdiffeq.odeint(field, torch.ones(3, 2), times, method="rk4")[-1].tolist())
    noisy, way = Noisy(), torchsde.BrownianInterval(0.0, 1.0, size=(4, 1), entropy=3, levy_area_approximation="space-time")
    y = torchsde.sdeint(noisy, torch.full((4, 1), 0.1), torch.linspace(0, 1, 3), bm=way, dt=0.1)
    y.sum().backward()
    print("torchsde", y[-1].tolist(), noisy.a.grad)
    product = o3.FullyConnectedTensorProduct("1x0e+1x1o", "1x1o", "1x0e+1x1o")
    print("e3nn", o3.spherical_harmonics(2, torch.randn(3, 3), True), product(torch.randn(2, 4), torch.randn(2, 3)).tolist())


if __name__ == "__main__":
    for part in (gaussian_process, inference, flows, equations):
        torch.manual_seed(0)
        part()
