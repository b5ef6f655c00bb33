"""DP-MERF on MNIST: classifiers trained on made-up digits alone, judged on real ones. Runs by itself.

    python bench/tasks/synth_merf_images.py --data DIR --epsilon 1 --device cuda

DIR has the four files of MNIST, as `train-images-idx3-ubyte.gz` and so on. Needs torch, numpy and cryptography beside
Discreet. The real images that judge are those of the test files, which no generator and no classifier has seen. Prints
a line of JSON for each seed, and one of means.
"""

from __future__ import annotations

import argparse
import gzip
import json
import time
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

CLASSES, SIDE, ROWS = 10, 28, 60_000
_BATCH, _EPOCHS = 256, 8


def read(folder: Path, part: str) -> tuple[Any, Any]:
    """The images, one a row, and the labels of a part of MNIST: "train" or "t10k"."""
    images = _bytes(folder / f"{part}-images-idx3-ubyte.gz", 16).reshape(-1, SIDE, SIDE)
    return images, _bytes(folder / f"{part}-labels-idx1-ubyte.gz", 8).astype(np.int64)


def made(train: tuple[Any, Any], epsilon: str, delta: str, seed: int, **options: Any) -> Any:
    """A generator that was paid for with (epsilon, delta), from seeded noise."""
    from discreet.account.budgets.budget import Budget
    from discreet.publish.merf_images import images
    from discreet.testing import seeded

    budget = Budget(epsilon=Fraction(epsilon), delta=Fraction(delta))
    with seeded(seed):
        return images(*train, classes=CLASSES, budget=budget, **options)


def accuracies(train: tuple[Any, Any], test: tuple[Any, Any], device: str, seed: int) -> dict[str, float]:
    """How many of the test images classifiers get right that were trained on other ones."""
    ours, real = ((images.reshape(len(images), -1), labels) for images, labels in (train, test))
    return {name: _accuracy(name, ours, real, device, seed) for name in ("logistic", "mlp", "cnn")}


def _bytes(path: Path, header: int) -> Any:
    with gzip.open(path) as file:
        return np.frombuffer(file.read(), np.uint8, offset=header).copy()


def _classifier(torch: Any, name: str) -> Any:
    layers = torch.nn
    if name == "logistic":
        return layers.Linear(SIDE * SIDE, CLASSES)
    if name == "mlp":
        return layers.Sequential(layers.Linear(SIDE * SIDE, 100), layers.ReLU(), layers.Linear(100, CLASSES))
    return layers.Sequential(
        layers.Unflatten(1, (1, SIDE, SIDE)),
        layers.Conv2d(1, 32, 3),
        layers.ReLU(),
        layers.MaxPool2d(2),
        layers.Dropout(0.5),
        layers.Conv2d(32, 64, 3),
        layers.ReLU(),
        layers.MaxPool2d(2),
        layers.Dropout(0.5),
        layers.Flatten(),
        layers.Linear(64 * 25, CLASSES),
    )


def _accuracy(name: str, train: tuple[Any, Any], test: tuple[Any, Any], device: str, seed: int) -> float:
    torch: Any = import_module("torch")
    torch.manual_seed(seed)
    (x, y), (shown, named) = ((_tensor(torch, a, device) / 255.0, _tensor(torch, b, device)) for a, b in (train, test))
    model = _classifier(torch, name).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for _ in range(_EPOCHS):
        for rows in torch.randperm(len(x), device=device).split(_BATCH):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(x[rows]), y[rows]).backward()
            optimizer.step()
    model.eval()
    with torch.no_grad():
        right = [
            (model(part).argmax(1) == label).sum()
            for part, label in zip(shown.split(2000), named.split(2000), strict=True)
        ]
    return float(sum(right)) / len(named)


def _tensor(torch: Any, array: Any, device: str) -> Any:
    return torch.as_tensor(array, device=device)


def main() -> None:
    """Read the command line, and print what was measured."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--epsilon", default="1")
    parser.add_argument("--delta", default="1e-5")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--features", type=int, default=2000)
    parser.add_argument("--spread", type=float, default=5.0)
    parser.add_argument("--rows", type=int, default=ROWS, help="how many images to make up")
    parser.add_argument("--real", action="store_true", help="train on the real images too, for comparison")
    parser.add_argument("--keep", type=Path, help="a file (.npz) for a hundred made-up images of the last seed")
    asked = parser.parse_args()
    train, test = read(asked.data, "train"), read(asked.data, "t10k")
    options = {"spread": asked.spread, "features": asked.features, "steps": asked.steps, "device": asked.device}
    if asked.real:
        print(json.dumps({"real": accuracies(train, test, asked.device, 0)}), flush=True)
    found = []
    for seed in range(1, asked.seeds + 1):
        start = time.perf_counter()
        generator = made(train, asked.epsilon, asked.delta, seed, **options)
        took = time.perf_counter() - start
        found.append(accuracies(generator.sample(asked.rows), test, asked.device, seed))
        told = {"epsilon": asked.epsilon, "delta": asked.delta, "loss": str(generator.loss), "seed": seed, **options}
        print(json.dumps({**told, **found[-1], "seconds": round(took, 1)}), flush=True)
        if asked.keep is not None:
            images, labels = generator.sample(100)
            np.savez_compressed(asked.keep, images=images.reshape(-1, SIDE, SIDE), labels=labels)
    print(json.dumps({"mean": {name: float(np.mean([each[name] for each in found])) for name in found[0]}}))


if __name__ == "__main__":
    main()
