"""Leaks: small changes of the source that pass exact values on, each of which types or the token itself refuse."""

import sys
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType

import discreet

SOURCE = Path(discreet.__file__).parent


@dataclass(frozen=True)
class Leak:
    """A change: in which file, what stands there and what is put for it, and what shows it.

    `shown` names what is run with the change in place: an aggregate, a method of synthetic data, or "pmw"; None where
    that would take a vault, or where a door itself is changed, and only types tell. `again` are the modules that hold
    something of the changed one by name.
    """

    name: str
    file: str
    old: str
    new: str
    shown: str | None = None
    again: tuple[str, ...] = ()
    imports: str = ""

    @property
    def planted(self):
        """The source with the change."""
        text = (SOURCE / self.file).read_text(encoding="utf-8")
        assert text.count(self.old) == 1, f"{self.file} has changed: plant {self.name!r} anew"
        text = text.replace(self.old, self.new)
        return text.replace("\nfrom discreet.", f"\n{self.imports}\nfrom discreet.", 1) if self.imports else text

    @property
    def module(self):
        """The changed module's name."""
        return module_of(self.file)

    def plant(self, patch):
        """Put the change in place, and load anew what would still hold the old code."""
        loaded(patch, self.module, self.planted)
        for name in self.again:
            loaded(patch, name, (SOURCE / file_of(name)).read_text(encoding="utf-8"))


def module_of(file):
    return "discreet." + file.removesuffix(".py").replace("/", ".")


def file_of(module):
    return module.removeprefix("discreet.").replace(".", "/") + ".py"


def loaded(patch, name, text):
    module = ModuleType(name)
    module.__file__ = str(SOURCE / file_of(name))
    import_module(name)
    patch.setitem(sys.modules, name, module)
    exec(compile(text, module.__file__, "exec"), module.__dict__)
    above, _, last = name.rpartition(".")
    patch.setattr(sys.modules[above], last, module)


NOISY = "from discreet.publish.model.fit import NoisyMarginal"
NUMPY = "import numpy as np"
ROUNDS = "publish/methods/_rounds.py"
OF_ROUNDS = ("discreet.publish.methods.aim", "discreet.publish.methods.mwem")

LEAKS = [
    Leak(
        "independent: noise left out",
        "publish/methods/independent.py",
        "purse.measure(one, exact, part)",
        "NoisyMarginal(one, exact, 1.0)",
        shown="independent",
        imports=NOISY,
    ),
    Leak(
        "tables: noise left out",
        "publish/methods/tables.py",
        "purse.measure(clique, exact, part)",
        "NoisyMarginal(clique, exact, 1.0)",
        shown="tables",
        imports=NOISY,
    ),
    Leak(
        "mst: noise of pairs left out",
        "publish/methods/mst.py",
        "measured.append(purse.measure(pair, exact, part))",
        "measured.append(NoisyMarginal(pair, exact, 1.0))",
        shown="mst",
    ),
    Leak(
        "mst: the best pair instead of a choice",
        "publish/methods/mst.py",
        "purse.choose(found, FINE, part / (len(domain) - 1))",
        "int(np.argmax(found))",
        shown="mst",
    ),
    Leak(
        "aim: noise of single attributes left out",
        "publish/methods/aim.py",
        "purse.measure(one, exact, part)",
        "NoisyMarginal(one, exact, 1.0)",
        shown="aim",
        imports=NOISY,
    ),
    Leak(
        "mwem: noise of single attributes left out",
        "publish/methods/mwem.py",
        "purse.measure(one, exact, part)",
        "NoisyMarginal(one, exact, 1.0)",
        shown="mwem",
        imports=NOISY,
    ),
    Leak(
        "aim, mwem: noise of a round left out",
        ROUNDS,
        "purse.measure(taken, exact[taken], min(noise, purse.left))",
        "NoisyMarginal(taken, exact[taken], 1.0)",
        shown="aim",
        again=OF_ROUNDS,
    ),
    Leak(
        "aim, mwem: the worst marginal instead of a choice",
        ROUNDS,
        "purse.choose(together(scores).map(listed), FINE * most, price * style.choosing)",
        "max(range(len(cliques)), key=together(scores).map(listed).__getitem__)",
        shown="mwem",
        again=OF_ROUNDS,
    ),
    Leak(
        "merf: noise of features left out",
        "publish/methods/merf.py",
        "mechanism.release(exact.map(weighted_features, weight))",
        "exact.map(weighted_features, weight)",
        shown="merf",
    ),
    Leak(
        "smalldb: noise of the number of rows left out",
        "publish/methods/smalldb.py",
        "purse.measure((), exact.map(total), COUNTING * allowance.amount)",
        "NoisyMarginal((), exact.map(total), 1.0)",
        shown="smalldb",
        imports=NOISY,
    ),
    Leak(
        "smalldb: the nearest database instead of a choice",
        "publish/methods/smalldb.py",
        "purse.choose(scores, sizes.rows, purse.left)",
        "int(np.argmax(scores))",
        shown="smalldb",
    ),
    Leak(
        "every method: noise left out of a marginal",
        "publish/allowance.py",
        "noisy: Released = mechanism.release(exact)",
        "noisy: Released = exact",
    ),
    Leak(
        "every method: the best score instead of a choice",
        "publish/allowance.py",
        "chosen.release(scores)",
        "int(np.argmax(scores))",
    ),
    Leak(
        "pmw: noise of the beginning left out",
        "publish/pmw.py",
        "purse.measure(clique, exact, part)",
        "NoisyMarginal(clique, exact, 1.0)",
        shown="pmw",
        again=("discreet.publish.pmw_session",),
    ),
    Leak(
        "pmw: noise of an answer left out",
        "publish/pmw_session.py",
        "noisy = self.terms.answered(self._purse, exact)",
        "noisy = NoisyMarginal((), exact, 1.0)",
        shown="pmw",
    ),
    Leak(
        "pmw: guess and truth compared without noise",
        "publish/pmw_session.py",
        "not self._watch.ask(exact.map(gap, round(guess)))",
        "exact.map(gap, round(guess)) < self._threshold",
        shown="pmw",
    ),
    Leak(
        "counts, sums, means: noise left out",
        "mechanisms/parts/statistic.py",
        "self.supposed(self.noisy(exact).tolist())",
        "self.supposed(exact)",
    ),
    Leak(
        "key selection: every key shown",
        "mechanisms/key_selection.py",
        "keys, people = _in_order(opened(exact))\n        return tuple(compress(keys, self._kept(people, 1)[0]))",
        "return tuple(exact)",
    ),
    Leak(
        "contribution bound: the most rows of anyone",
        "mechanisms/contribution_bound.py",
        "int(self.quantile.search_steps(_tally(opened(exact), self.most), 1)[0, 0])",
        "max(exact)",
    ),
    Leak(
        "count, sum, mean, ...: noise left out of a column",
        "measures/sums.py",
        "self.quantities(self.statistic.measured(found.map(from_tallies, self.exact)), mark)",
        "self.quantities(found.map(from_tallies, self.exact), mark)",
        shown="count",
        again=("discreet.measures.count",),
    ),
    Leak(
        "histogram: noise left out of a column",
        "measures/bins.py",
        "drawn = count.measured(kept.map(end_to_end))",
        "drawn = kept.map(end_to_end)",
        shown="histogram",
        again=("discreet.measures.histogram",),
    ),
    Leak(
        "top-k: counts instead of a choice",
        "measures/bins.py",
        "top.release(kept.map(of_group, group))",
        "kept.map(of_group, group)",
        shown="top_k",
        again=("discreet.measures.top_k",),
    ),
    Leak(
        "quantile: counts instead of a choice",
        "measures/nested_quantiles.py",
        "(points,) = search_together(self.bought, found, groups)",
        "(points,) = found([])",
        shown="median",
        again=("discreet.measures.quantile",),
    ),
    Leak(
        "a question with undeclared keys: every key shown",
        "ask/programme.py",
        "kept = at.asked.selection.release(found)",
        "kept = tuple(found)",
    ),
    Leak(
        "max_rows='auto': the most rows of anyone",
        "ask/programme.py",
        "most = at.asked.bound.release(found)",
        "most = max(found)",
    ),
]
