"""Exact noise: integers drawn from their true distribution, from the operating system's randomness."""

from discreet.noise.bernoulli import bernoulli as bernoulli
from discreet.noise.bernoulli import bernoulli_exp as bernoulli_exp
from discreet.noise.gaussian import gaussian as gaussian
from discreet.noise.geometric import geometric as geometric
from discreet.noise.laplace import laplace as laplace
from discreet.noise.uniform import uniform as uniform

__all__ = ["bernoulli", "bernoulli_exp", "gaussian", "geometric", "laplace", "uniform"]
