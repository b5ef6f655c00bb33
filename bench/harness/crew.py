"""Crews: the workers of an area, started when first needed and replaced when they break."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Self

from bench.harness.case import Area, Participant
from bench.harness.environment import CACHE, PeerAbsent, folder, interpreter
from bench.harness.process import Worker, WorkerFailed
from bench.harness.watch import Watcher

START_TIMEOUT = 60.0


class Crew:
    """Everyone who takes part in an area; a context manager, at whose end all workers are gone."""

    def __init__(self, area: Area, watcher: Watcher, cache: Path = CACHE) -> None:
        self.versions: dict[str, str] = {}
        self.absent: dict[str, str] = {}
        self._participants = area.participants()
        self._watcher = watcher
        self._cache = cache
        self._workers: dict[str, Worker] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.dismiss()

    def ask(self, name: str, timeout: float, **request: object) -> dict[str, Any]:
        """Ask a participant's worker; one that broke is let go, and a fresh one starts at the next request."""
        try:
            return self._worker(name).ask(timeout, **request)
        except WorkerFailed as failure:
            if not failure.alive and name in self._workers:
                self._workers.pop(name).close()
            raise

    def dismiss(self) -> None:
        """End all workers; later requests start fresh ones."""
        while self._workers:
            self._workers.popitem()[1].close()

    def _worker(self, name: str) -> Worker:
        if name not in self._workers:
            participant = self._participants[name]
            self._workers[name] = Worker(self._interpreter(participant), participant.tasks)
            if name not in self.versions:
                self.versions[name] = self._version(participant)
        return self._workers[name]

    def _interpreter(self, participant: Participant) -> Path:
        if participant.name in self.absent:  # one attempt a run: a failed installation is not tried for every case
            raise WorkerFailed(self.absent[participant.name], alive=False)
        if participant.requirements and not folder(participant, self._cache).exists():
            self._watcher.phase(f"installing {participant.name} ({', '.join(participant.requirements)})")
        try:
            return interpreter(participant, self._cache)
        except PeerAbsent as absence:
            self.absent[participant.name] = absence.why
            raise WorkerFailed(absence.why, alive=False) from absence

    def _version(self, participant: Participant) -> str:
        packages = [participant.package] if participant.package else []
        found = self._workers[participant.name].ask(START_TIMEOUT, do="describe", packages=packages)
        return ", ".join(
            [*(f"{name} {version}" for name, version in found["packages"].items()), f"Python {found['python']}"]
        )
