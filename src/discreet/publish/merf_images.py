"""DP-MERF for labelled images: mean features of every class with noise, and a generator trained on them by torch.

Harder, Adamczewski and Park (2021). Pixels and random frequencies are integers, so the phase of an image is
exact in any order a processor adds it up; what an image adds to the sums is then looked up in a table.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.account.budgets.budget import Budget
from discreet.account.losses.loss import PrivacyLoss
from discreet.account.numeric.checks import whole
from discreet.core.errors import BadParameter, MissingExtra
from discreet.core.exact import Exact
from discreet.noise.bits import current
from discreet.noise.gaussian import gaussian
from discreet.publish.allowance import Allowance
from discreet.publish.code_table import Counts, codes_of
from discreet.publish.kernels import COSINES, SINES, TURN
from discreet.publish.methods.merf import Embedding, released

FEATURES = 2000
WHITE = 255
# Frequencies are in parts of a turn this much finer than phases, so rounding them hardly turns an image.
_FINER = 1 << 10
_CHUNK = 1 << 12
_HIDDEN, _WIDE, _CHANNELS, _BATCH, _RATE = 8, 400, (16, 8), 100, 0.002

Pixels = NDArray[np.uint8]
Frequencies = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Images:
    """A generator of labelled images, and what it cost; sampling it costs nothing."""

    network: Any
    size: int  # pixels in an image
    shares: NDArray[np.float64]  # of the classes
    loss: PrivacyLoss

    def sample(self, rows: int) -> tuple[Pixels, NDArray[np.int64]]:
        """Draw images, one a row, and their classes; as many of each class as its share says, in random order."""
        torch = _torch()
        if isinstance(rows, bool) or not isinstance(rows, int) or rows < 0:
            raise BadParameter("rows", rows, why="a sample has a whole number of rows", fix="use 1000, for example")
        points = (np.arange(rows) + 0.5) / max(1, rows)
        labels = np.searchsorted(np.cumsum(self.shares)[:-1], points, side="right")
        labels = labels[np.argsort(current().words(rows, 64), kind="stable")]
        coins = _coins(torch, "cpu")
        with torch.no_grad():
            drawn = self.network(_hidden(torch, rows, coins), torch.as_tensor(labels))
        return np.rint(WHITE * drawn.numpy()).astype(np.uint8), labels.astype(np.int64)


def images(
    pixels: object,
    labels: object,
    *,
    classes: int,
    budget: Budget,
    spread: float = 5.0,
    features: int = FEATURES,
    steps: int = 2000,
    device: str = "cpu",
    progress: Callable[[int, int], None] | None = None,
    bill: Callable[[PrivacyLoss], object] | None = None,
) -> Images:
    """Make a generator of images like those of an array of bytes, one image a row, and of their labels.

    `spread` is how far apart two images are, as a Euclidean distance with white as 1, that are hardly alike any more:
    to be declared, not to be read off the images (5 suits digits of 28 x 28 pixels). More `features` and `steps` take
    longer and are better, such as 5000 and 4000 on a graphics card. A label that is not 0 to classes - 1 counts as
    missing: its image stays out. `device` is torch's word for where the generator is trained, and `progress` is told
    the step it is at and how many there are. `bill` is called with the loss before anything is computed from the
    images: `bill=lambda loss: curator.bill("photos", loss, "generator of photos")` lets a vault pay for them.

    Guarantee: the budget, where adding or removing an image with its label makes neighbours. All of it buys one
    release of sums; training sees nothing else.
    """
    torch = _torch()  # an absent package is met before anything is measured
    shown, named = _checked(pixels, labels, classes)
    many, allowance = whole("steps", steps), Allowance.of(budget)
    frequencies = drawn_frequencies(shown.shape[1], spread, whole("features", features))
    _check_device(torch, device)
    if bill is not None:
        bill(allowance.loss)
    exact = embedded(shown, named, classes, frequencies)
    embedding = released(exact, classes, frequencies.shape[1], allowance)
    sides = np.asarray(pixels).shape[1:]
    network = _trained(embedding, frequencies, sides, many, device, progress or (lambda _step, _steps: None))
    total = float(embedding.counts.sum())
    shares = embedding.counts / total if total else np.full(classes, 1 / classes)
    return Images(network, shown.shape[1], shares, allowance.loss)


def drawn_frequencies(size: int, spread: float, features: int = FEATURES) -> Frequencies:
    """Draw frequencies (pixels x features) in the finer parts of a turn for each step of a pixel's brightness."""
    if not math.isfinite(spread) or spread <= 0:
        raise BadParameter("spread", spread, why="it is a distance between images", fix="use 5 for 28 x 28 pixels")
    deviation = max(Fraction(1), Fraction(TURN * _FINER / (2 * math.pi * spread * WHITE)))
    drawn = np.asarray(gaussian(deviation, (size, features)), np.int64)
    # Whole turns change no phase; without them the sums over all pixels of an image stay far below 2^53.
    half = TURN * _FINER // 2
    return (drawn + half) % (2 * half) - half


def embedded(
    pixels: Pixels, labels: NDArray[np.int64], classes: int, frequencies: Frequencies
) -> Exact[tuple[Counts, Counts]]:
    """Return the exact sums of cosines and sines (classes x features x 2) and the number of images of each class."""
    sums = np.zeros((classes, frequencies.shape[1], 2), np.int64)
    counts = np.zeros(classes, np.int64)
    plain = frequencies.astype(np.float64)  # integers far below 2^53 are added exactly, and fast, as floats
    for start in range(0, len(pixels), _CHUNK):
        turned = (pixels[start : start + _CHUNK].astype(np.float64) @ plain).astype(np.int64)
        phases = (turned // _FINER) % TURN
        named = labels[start : start + _CHUNK]
        for label in range(classes):
            here = phases[named == label]
            sums[label, :, 0] += COSINES[here].sum(axis=0)
            sums[label, :, 1] += SINES[here].sum(axis=0)
            counts[label] += len(here)
    return Exact((sums, counts))


def _trained(
    embedding: Embedding,
    frequencies: Frequencies,
    shape: tuple[int, ...],
    steps: int,
    device: str,
    progress: Callable[[int, int], None],
) -> Any:  # noqa: ANN401  (torch is no dependency)
    """Train a network whose images have the noisy mean features, class by class."""
    torch, classes = _torch(), len(embedding.counts)
    network, coins = _network(torch, classes, shape).to(device), _coins(torch, device)
    waves = torch.as_tensor(2 * np.pi * WHITE / (TURN * _FINER) * frequencies, dtype=torch.float32, device=device)
    shares = embedding.counts / max(1.0, float(embedding.counts.sum()))
    pairs = np.stack([embedding.means.real, embedding.means.imag], -1)
    target = torch.as_tensor(pairs, dtype=torch.float32, device=device)
    weight = torch.as_tensor(shares, dtype=torch.float32, device=device)[:, None, None]
    labels = torch.arange(classes, device=device).repeat_interleave(_BATCH)
    optimizer = torch.optim.Adam(network.parameters(), lr=_RATE)
    decay = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    for step in range(1, steps + 1):
        angles = network(_hidden(torch, len(labels), coins), labels) @ waves
        means = torch.stack([angles.cos(), angles.sin()], -1).reshape(classes, _BATCH, -1, 2).mean(dim=1)
        # The square of a batch's mean is too long by its variance, and a generator could shorten it by drawing one
        # image forever. Every point has length one, so this factor makes up for it, except for a constant.
        square = _BATCH / (_BATCH - 1) * (weight * means) ** 2
        distance = (square - 2 * weight * means * target).sum()
        optimizer.zero_grad()
        distance.backward()
        optimizer.step()
        decay.step()
        progress(step, steps)
    return network.to("cpu").eval()


def _network(torch: Any, classes: int, shape: tuple[int, ...]) -> Any:  # noqa: ANN401
    """Return a network from hidden noise and a label to the pixels of an image.

    Where an image has two sides that can be halved twice, a small one is drawn and doubled twice, with convolutions:
    they make neighbouring pixels alike, as in pictures, and not as in the noise of the features.
    """

    class Generator(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.layers = _layers(torch.nn, classes, shape)

        def forward(self, noise: Any, labels: Any) -> Any:  # noqa: ANN401
            """Return images for rows of noise and labels."""
            named = torch.nn.functional.one_hot(labels, classes).to(noise.dtype)
            return self.layers(torch.cat([noise, named], dim=1))

    seed = current().bits(62)
    with torch.random.fork_rng(devices=[]):  # the caller's own stream goes on as if nothing was
        torch.default_generator.manual_seed(seed)
        return Generator()


def _layers(nn: Any, classes: int, shape: tuple[int, ...]) -> Any:  # noqa: ANN401
    first = [nn.Linear(_HIDDEN + classes, _WIDE), nn.LayerNorm(_WIDE), nn.ReLU()]
    if len(shape) != 2 or any(side % 4 for side in shape):
        size = math.prod(shape)
        return nn.Sequential(*first, nn.Linear(_WIDE, _WIDE), nn.ReLU(), nn.Linear(_WIDE, size), nn.Sigmoid())
    small = shape[0] // 4, shape[1] // 4
    many, few = _CHANNELS
    return nn.Sequential(
        *first,
        nn.Linear(_WIDE, many * math.prod(small)),
        nn.ReLU(),
        nn.Unflatten(1, (many, *small)),
        nn.Upsample(scale_factor=2, mode="bilinear"),
        nn.Conv2d(many, few, 5, padding=2),
        nn.ReLU(),
        nn.Upsample(scale_factor=2, mode="bilinear"),
        nn.Conv2d(few, 1, 5, padding=2),
        nn.Sigmoid(),
        nn.Flatten(),
    )


def _coins(torch: Any, device: str) -> Any:  # noqa: ANN401
    """Return a stream of torch's that begins with our bits."""
    return torch.Generator(device).manual_seed(current().bits(62))


def _hidden(torch: Any, rows: int, coins: Any) -> Any:  # noqa: ANN401
    return torch.randn((rows, _HIDDEN), generator=coins, device=coins.device)


def _check_device(torch: Any, device: str) -> None:  # noqa: ANN401
    """Refuse a device that is not there before anything is measured."""
    try:
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError) as error:
        why = "torch does not find it here"
        raise BadParameter("device", device, why=why, fix='use "cpu", or "cuda" where there is one') from error


def _checked(pixels: object, labels: object, classes: int) -> tuple[Pixels, NDArray[np.int64]]:
    """Refuse arrays of the wrong type or shape: what they declare, never what they hold."""
    shown = np.asarray(pixels)
    if shown.dtype != np.uint8 or shown.ndim < 2:
        found = f"{shown.dtype}, {shown.ndim} axes"
        raise BadParameter("pixels", found, why="images are bytes, one image a row", fix="use uint8, 0 to 255")
    if isinstance(classes, bool) or not isinstance(classes, int) or classes < 1:
        raise BadParameter("classes", classes, why="it is how many classes there are", fix="use 10 for digits")
    named = codes_of("labels", labels, classes)
    if len(named) != len(shown):
        why = "each image has one whole-number label"
        raise BadParameter("labels", type(labels).__name__, why=why, fix="give as many labels as images")
    return shown.reshape(len(shown), -1), named.astype(np.int64)


def _torch() -> Any:  # noqa: ANN401
    try:
        return import_module("torch")
    except ImportError as error:
        raise MissingExtra("a generator of images", "torch", "torch") from error
