"""Libraries that run the loop of training: Lightning, Accelerate, transformers' Trainer, PEFT, skorch and Opacus."""
import logging
import os
import tempfile

import accelerate
import numpy as np
import opacus
import peft
import pytorch_lightning as lightning
import skorch
import torch
import transformers
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

logging.disable(logging.WARNING)


def gpt2():
    return transformers.GPT2LMHeadModel(transformers.GPT2Config(vocab_size=50, n_positions=32, n_embd=32, n_layer=1, n_head=4))


def samples(n=16, *shape):
    return TensorDataset(torch.randn(n, *shape), torch.randint(0, 2, (n,)))


class Classifier(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer, self.losses = nn.Linear(4, 2), []

    def training_step(self, batch, number):
        loss = F.cross_entropy(self.layer(batch[0]), batch[1])
        self.log("loss", loss)
        self.losses.append(f"{loss.item():.4f}")
        return loss

    def configure_optimizers(self):
        optimizer = torch.optim.SGD(self.parameters(), 0.1)
        return [optimizer], [torch.optim.lr_scheduler.StepLR(optimizer, 1)]


def by_lightning(folder):
    model, quiet = Classifier(), dict(enable_progress_bar=False, logger=False, enable_model_summary=False)
    lightning.Trainer(max_epochs=2, default_root_dir=folder, accelerator="cpu", **quiet).fit(model, DataLoader(samples(16, 4), 4))
    print("lightning", model.losses)


def by_accelerate(folder):
    accelerator, model = accelerate.Accelerator(cpu=True), nn.Linear(4, 2)
    model, optimizer, batches = accelerator.prepare(model, torch.optim.AdamW(model.parameters()), DataLoader(samples(16, 4), 4))
    for x, y in batches:
        loss = F.cross_entropy(model(x), y)
        accelerator.backward(loss)
        accelerator.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        print(f"accelerate {loss.item():.4f}")


def by_trainer(folder):
    texts = [{"input_ids": x, "labels": x} for x in torch.randint(0, 50, (8, 8))]
    asked = transformers.TrainingArguments(folder, per_device_train_batch_size=4, num_train_epochs=2, report_to=[], disable_tqdm=True, use_cpu=True,
                                           logging_steps=1, save_strategy="epoch", seed=1)
    trainer = transformers.Trainer(gpt2(), asked, train_dataset=texts)
    trainer.remove_callback(transformers.PrinterCallback)
    trainer.train()
    print("trainer", [f"{line['loss']:.4f}" for line in trainer.state.log_history if "loss" in line], sorted(os.listdir(folder)))


def by_peft(folder):
    adapters = peft.LoraConfig(r=4, lora_alpha=8, target_modules=["c_attn"], lora_dropout=0.1, fan_in_fan_out=True)
    model, x = peft.get_peft_model(gpt2(), adapters), torch.randint(0, 50, (2, 8))
    optimizer = torch.optim.AdamW(model.parameters(), 1e-2)
    for _ in range(3):
        loss = model(input_ids=x, labels=x).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        print(f"peft {loss.item():.4f}")
    print("peft", model.get_nb_trainable_parameters(), model.merge_and_unload()(x).logits[0, 0, :5].tolist())


def by_skorch(folder):
    x = np.random.RandomState(0).randn(40, 4).astype(np.float32)
    layers = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2), nn.Softmax(-1))
    net = skorch.NeuralNetClassifier(layers, criterion=nn.NLLLoss, max_epochs=3, lr=0.1, verbose=0, iterator_train__shuffle=True)
    net.fit(x, (x[:, 0] > 0).astype(np.int64))
    print("skorch", [f"{epoch['train_loss']:.4f}" for epoch in net.history], net.predict(x)[:8].tolist())


def by_opacus(folder):
    model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 36, 2))
    private = dict(noise_multiplier=0.0, max_grad_norm=1.0, poisson_sampling=False)
    model, optimizer, batches = opacus.PrivacyEngine().make_private(
        module=model, optimizer=torch.optim.SGD(model.parameters(), 0.1), data_loader=DataLoader(samples(16, 1, 8, 8), 8), **private)
    for x, y in batches:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        print(f"opacus {loss.item():.4f}")


if __name__ == "__main__":
    for loop in (by_lightning, by_accelerate, by_trainer, by_peft, by_skorch, by_opacus):
        torch.manual_seed(0)
        with tempfile.TemporaryDirectory() as folder:
            loop(folder)
