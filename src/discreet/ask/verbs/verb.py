"""Verb: how one kind of request is written, read, previewed and run."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from discreet.ask.desk import Desk, Progress
    from discreet.ask.request import DeskRequest, Fresh, Released


class Verb(ABC):
    """One verb. Requests hold its values; records are what crosses to another process, and back.

    Guarantee: `read_question` refuses whatever the same question in Python is refused for.
    """

    is_priced: ClassVar[bool] = True

    @abstractmethod
    def question_record(self, question: Any) -> object:  # noqa: ANN401  (a value of the verb)
        """Return a question as plain JSON values."""

    @abstractmethod
    def read_question(self, record: object, desk: Desk) -> Any:  # noqa: ANN401
        """Read a question, about tables of this desk."""

    @abstractmethod
    def spec_record(self, spec: Any) -> object:  # noqa: ANN401
        """Return the terms as plain JSON values."""

    @abstractmethod
    def read_spec(self, record: object) -> Any:  # noqa: ANN401
        """Read terms; those left out stay as usual."""

    @abstractmethod
    def preview(self, request: DeskRequest) -> Any:  # noqa: ANN401
        """Show what the request would cost; free."""

    @abstractmethod
    def run(self, request: DeskRequest, *, fresh: Fresh, progress: Progress | None) -> Released:
        """Pay, and return the answer.

        Guarantee: through `discreet.ask.release.pay` alone, which charges before anything is read.
        """

    @abstractmethod
    def answer_text(self, answer: Any) -> str:  # noqa: ANN401
        """Write an answer as versioned JSON."""

    @abstractmethod
    def read_answer(self, text: str) -> Any:  # noqa: ANN401
        """Read what `answer_text` wrote."""

    @abstractmethod
    def read_preview(self, record: object, request: DeskRequest) -> Any:  # noqa: ANN401
        """Read what the `record` of a preview returned."""
