"""Planted bugs of `publish`: exact counts in synthetic data, noise for less than a person moves, sessions that refund."""

from tests.mutants.mutant import SourceMutant

BLACK_BOX = "publish/test_black_box.py"

MUTANTS = [
    SourceMutant(
        "publish/methods/_rounds.py",
        "known.append(purse.measure(taken, exact[taken], min(noise, purse.left)))",
        """known.append(purse.measure(taken, exact[taken], min(noise, purse.left)))
        if purse.left == 0:
            from discreet.core.doors import opened

            known[-1] = NoisyMarginal(taken, opened(exact[taken]).astype(float), known[-1].scale)""",
        "the last measurement of AIM and MWEM is exact",
        (BLACK_BOX,),
    ),
    SourceMutant(
        "publish/methods/mst.py",
        "measured.append(purse.measure(pair, exact, part))",
        """from discreet.core.doors import opened

        found = purse.measure(pair, exact, part)
        measured.append(NoisyMarginal(pair, opened(exact) * 1.0, found.scale) if pair == chosen[-1] else found)""",
        "the last pair of MST is measured exactly",
        (BLACK_BOX,),
    ),
    SourceMutant(
        "publish/methods/_rounds.py",
        "return cliques[purse.choose(together(scores).map(listed), FINE * most, price * style.choosing)]",
        """from discreet.core.doors import opened

    purse.choose(together(scores).map(listed), FINE * most, price * style.choosing)
    return cliques[int(np.argmax(opened(together(scores).map(listed))))]""",
        "AIM and MWEM take the marginal with the best exact score",
        (BLACK_BOX,),
    ),
    SourceMutant(
        "publish/methods/mst.py",
        "tree = tree.grown(open_[purse.choose(found, FINE, part / (len(domain) - 1))])",
        """from discreet.core.doors import opened

        purse.choose(found, FINE, part / (len(domain) - 1))
        tree = tree.grown(open_[int(np.argmax(opened(found)))])""",
        "MST takes the pair with the best exact score",
        (BLACK_BOX,),
    ),
    SourceMutant(
        "publish/methods/smalldb.py",
        "chosen = candidates[purse.choose(scores, sizes.rows, purse.left)]",
        """from discreet.core.doors import opened

    purse.choose(scores, sizes.rows, purse.left)
    chosen = candidates[int(np.argmax(opened(scores)))]""",
        "SmallDB takes the database with the best exact score",
        (BLACK_BOX,),
    ),
    SourceMutant(
        "publish/methods/_rounds.py",
        "FINE * most, price * style.choosing",
        "FINE * most // 2, price * style.choosing",
        "scores of rounds are chosen by with half their sensitivity",
        (BLACK_BOX,),
    ),
    SourceMutant(
        "publish/methods/_rounds.py",
        "FINE * most, price * style.choosing",
        "FINE, price * style.choosing",
        "the sensitivity of weighted scores leaves the weights out",
        (BLACK_BOX,),
    ),
    SourceMutant(
        "publish/methods/mst.py",
        "purse.choose(found, FINE, part",
        "purse.choose(found, FINE // 2, part",
        "pairs are chosen with half the sensitivity of their scores",
        (BLACK_BOX,),
    ),
    SourceMutant(
        "publish/methods/mst.py",
        "return round((1 - FADING) ** far * WEIGHT)",
        "return round((1 + FADING) ** far * WEIGHT)",
        "weights of pairs go beyond one, so a row moves a score further than FINE",
        (BLACK_BOX,),
    ),
    SourceMutant(
        "publish/methods/smalldb.py",
        "purse.choose(scores, sizes.rows, purse.left)",
        "purse.choose(scores, 1, purse.left)",
        "scores in m-ths of a row are chosen by as if they were in rows",
        (BLACK_BOX,),
    ),
    SourceMutant(
        "publish/allowance.py",
        "sensitivity=moves * self.allowance.rows)",
        "sensitivity=moves)",
        "choices forget that a person has several rows",
        (BLACK_BOX,),
    ),
    SourceMutant(
        "publish/allowance.py",
        "Gaussian(rho=part, sensitivity=self.allowance.rows, dimension=_MOST_CELLS)",
        "Gaussian(rho=part, sensitivity=1, dimension=_MOST_CELLS)",
        "Gaussian noise of marginals forgets that a person has several rows",
        (BLACK_BOX,),
    ),
    SourceMutant(
        "publish/allowance.py",
        "Laplace(epsilon=part, sensitivity=self.allowance.rows)",
        "Laplace(epsilon=part, sensitivity=1)",
        "Laplace noise of marginals forgets that a person has several rows",
        (BLACK_BOX,),
    ),
    SourceMutant(
        "publish/allowance.py",
        "        self.spent += part\n",
        "        self.spent = part\n",
        "a purse remembers only what it paid last",
        ("publish/test_allowance.py::test_no_more_is_spent_than_there_is",),
    ),
    SourceMutant(
        "publish/allowance.py",
        "square = 8 * part",
        "square = 16 * part",
        "a choice for rho is made with more epsilon than bounded range allows",
        (BLACK_BOX,),
    ),
    SourceMutant(
        "publish/methods/smalldb.py",
        "rows = min(max(1, round(float(counted.values))), MOST_ROWS)",
        """from discreet.core.doors import opened

    rows = max(1, int(opened(exact.map(total))))""",
        "the total of SmallDB is exact",
        (BLACK_BOX,),
    ),
    SourceMutant(
        "publish/methods/merf.py",
        "rows = NoisyMarginal((), np.asarray(embedding.counts[0]), embedding.deviation)",
        """from discreet.core.doors import opened

    rows = NoisyMarginal((), np.asarray(float(opened(exact[0,]).sum())), embedding.deviation)""",
        "the total of MERF is exact",
        (BLACK_BOX,),
    ),
    SourceMutant(
        "publish/methods/mst.py",
        "    merged = Merged.of(domain, singles, apart=workload.apart)\n",
        """    from discreet.core.doors import opened

    counts = [NoisyMarginal(each.clique, opened(exact) * 1.0, each.scale) for each, exact in zip(singles, measure(ones))]
    merged = Merged.of(domain, counts, apart=workload.apart)
""",
        "MST merges codes by their exact counts",
        (BLACK_BOX,),
    ),
    SourceMutant(
        "publish/methods/aim.py",
        "    merged = Merged.of(domain, singles, TOO_RARE, workload.apart)\n",
        """    from discreet.core.doors import opened

    counts = [type(each)(each.clique, opened(exact) * 1.0, each.scale) for each, exact in zip(singles, measure(ones))]
    merged = Merged.of(domain, counts, TOO_RARE, workload.apart)
""",
        "AIM merges codes by their exact counts",
        (BLACK_BOX,),
    ),
    SourceMutant(
        "publish/methods/merf.py",
        "squared = allowance.rows**2 * (features * SQUARE + weight**2)",
        "squared = allowance.rows * (features * SQUARE + weight**2)",
        "the length of a person's features grows with the root of their rows",
        (BLACK_BOX,),
    ),
    SourceMutant(
        "publish/methods/merf.py",
        "moved = allowance.rows * (features * SUM + weight)",
        "moved = allowance.rows * (features * GRID + weight)",
        "a feature's cosine and sine count as one number for Laplace noise",
        (BLACK_BOX,),
    ),
    SourceMutant(
        "publish/methods/merf.py",
        "(features * SQUARE + weight**2)",
        "(features * SQUARE)",
        "the counts of MERF have noise for features alone",
        (BLACK_BOX,),
    ),
    SourceMutant(
        "publish/pmw_session.py",
        "            self._learn(where, float(noisy.values), noisy.scale)\n",
        """            from discreet.core.doors import opened

            if abs(opened(exact) - guess) < self._threshold:
                self.updates -= 1
            self._learn(where, float(noisy.values), noisy.scale)
""",
        "an update that exact counts find needless is refunded",
        (BLACK_BOX,),
    ),
    SourceMutant(
        "publish/pmw_session.py",
        "            self.updates += 1\n            if self.left",
        "            self.updates += self.asked > 1\n            if self.left",
        "the first update is free",
        (BLACK_BOX,),
    ),
    SourceMutant(
        "publish/pmw_session.py",
        "return SyntheticEstimate(max(0.0, float(noisy.values)), self._bars[1])",
        """from discreet.core.doors import opened

            return SyntheticEstimate(float(opened(exact)), self._bars[1])""",
        "an answer after an update is exact",
        (BLACK_BOX,),
    ),
    SourceMutant(
        "publish/pmw.py",
        "square, cutoff = 2 * part / self.updates, 1",
        "square, cutoff = 2 * part, 1",
        "every update's comparison costs what all of them were to cost",
        (BLACK_BOX,),
    ),
    SourceMutant(
        "publish/pmw.py",
        "            sensitivity=self.allowance.rows,\n            relation=self.relation,\n        )\n\n    def begin",
        "            sensitivity=1,\n            relation=self.relation,\n        )\n\n    def begin",
        "comparisons forget that a person has several rows",
        (BLACK_BOX,),
    ),
    SourceMutant(
        "publish/pmw.py",
        'moved = whole("rows", rows) * (2 if check_relation(relation) == "replace" else 1)',
        'moved = whole("rows", rows) * (1 if check_relation(relation) == "replace" else 1)',
        "sessions under replace have noise for the rows that leave alone",
        ("publish/test_pmw.py",),
    ),
    SourceMutant(
        "publish/merf_images.py",
        "    if bill is not None:\n        bill(allowance.loss)\n    exact = embedded(shown, named, classes, frequencies)\n",
        "    exact = embedded(shown, named, classes, frequencies)\n    if bill is not None:\n        bill(allowance.loss)\n",
        "images are read before they are paid for",
        ("publish/methods/test_merf.py::test_images_are_billed_after_every_check_and_before_they_are_looked_at",),
    ),
]
