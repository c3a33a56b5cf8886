# Part of hierbar, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# One token after the other: each operation of a layer is a parallel region.
#
# /// row torch
# title = "PyTorch, eager"
# wheels = ["torch==2.15.0", "numpy==2.4.6"]
# command = ["{python}", "{file}", "eager", "100"]
# time = 'seconds: ([0-9.]+)'
# ///
#
# The same decoder, with kernels that torch.compile makes by GCC.
#
# /// row torch_compile
# title = "PyTorch, torch.compile"
# wheels = ["torch==2.15.0", "numpy==2.4.6"]
# debian = ["g++"]
# check = ["g++", "--version"]
# command = ["{python}", "{file}", "compile", "100"]
# time = 'seconds: ([0-9.]+)'
# ///
"""torch_decoder.py MODE TOKENS: a small decoder with random weights in PyTorch, which writes TOKENS
tokens, one at a time.

  eager     by PyTorch's own kernels
  compile   by C++ kernels that torch.compile makes
  loader    trained for TOKENS steps, with two processes that load the data
  ddp       trained for TOKENS steps by two processes, whose gradients travel by gloo
"""

import datetime
import os
import sys
import tempfile
import time

import torch
from torch import nn

VOCABULARY, WIDTH, HEADS, LAYERS, CONTEXT = 1024, 256, 4, 4, 64


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norms = nn.ModuleList([nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)])
        self.mix = nn.Linear(WIDTH, 3 * WIDTH)
        self.join = nn.Linear(WIDTH, WIDTH)
        self.widen = nn.Sequential(
            nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH)
        )

    def forward(self, states):
        batch, length, _ = states.shape
        parts = self.mix(self.norms[0](states)).view(batch, length, 3, HEADS, WIDTH // HEADS)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        seen = nn.functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        states = states + self.join(seen.transpose(1, 2).reshape(batch, length, WIDTH))
        return states + self.widen(self.norms[1](states))


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(1)
        self.embed = nn.Embedding(VOCABULARY, WIDTH)
        self.layers = nn.Sequential(*(Layer() for _ in range(LAYERS)))
        self.out = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, tokens):
        return self.out(self.layers(self.embed(tokens)))


def write_tokens(model, count):
    """The context has a fixed length, so that a compiled model is compiled once."""
    tokens = torch.arange(CONTEXT).unsqueeze(0)
    with torch.inference_mode():
        model(tokens)  # compiles it
        start = time.perf_counter()
        for _ in range(count):
            following = model(tokens)[:, -1].argmax(-1, keepdim=True)
            tokens = torch.cat([tokens[:, 1:], following], 1)
    print(f"seconds: {time.perf_counter() - start:.6f}")
    print("tokens:", *tokens[0, -min(count, 16) :].tolist())


class Sequences(torch.utils.data.Dataset):
    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        step = torch.arange(CONTEXT + 1) * (1 + index % 7) + index
        return step % VOCABULARY


def train(model, loader):
    """Returns the last loss."""
    optimiser = torch.optim.SGD(model.parameters(), lr=0.01)
    start = time.perf_counter()
    for batch in loader:
        scores = model(batch[:, :-1])
        loss = nn.functional.cross_entropy(scores.flatten(0, 1), batch[:, 1:].flatten())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return loss.item(), time.perf_counter() - start


def train_together(rank, meeting, count):
    torch.distributed.init_process_group(
        "gloo",
        init_method=f"file://{meeting}",
        rank=rank,
        world_size=2,
        timeout=datetime.timedelta(minutes=5),
    )
    model = nn.parallel.DistributedDataParallel(Decoder())
    data = torch.utils.data.Subset(Sequences(16 * count), range(rank, 16 * count, 2))
    loss, seconds = train(model, torch.utils.data.DataLoader(data, batch_size=8))
    if rank == 0:
        print(f"seconds: {seconds:.6f}\nloss: {loss:.5f}")
    torch.distributed.destroy_process_group()


def main():
    mode, count = sys.argv[1], int(sys.argv[2])
    if mode == "eager":
        write_tokens(Decoder().eval(), count)
    elif mode == "compile":
        write_tokens(torch.compile(Decoder().eval()), count)
    elif mode == "loader":
        loader = torch.utils.data.DataLoader(Sequences(8 * count), batch_size=8, num_workers=2)
        loss, seconds = train(Decoder(), loader)
        print(f"seconds: {seconds:.6f}\nloss: {loss:.5f}")
    elif mode == "ddp":
        with tempfile.TemporaryDirectory() as folder:
            meeting = os.path.join(folder, "meeting")
            torch.multiprocessing.spawn(train_together, (meeting, count), nprocs=2)
    else:
        sys.exit(f"torch_decoder.py: '{mode}': must be eager, compile, loader or ddp")


if __name__ == "__main__":
    main()
