"""Parts of mechanisms: noise, choice, thresholds, raw values and tails, shared by the files beside."""
