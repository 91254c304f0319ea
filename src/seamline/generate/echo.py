"""``echo``: a stand-in that returns the prompt, to see what a model would be given."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from seamline.ports import SentenceScorer, SentenceSplitter
from seamline.types import GenerationPiece, GenerationRequest


class EchoGenerator:
    """Returns the prompt as a code block, so that no bracket in it counts as a citation. A stand-in."""

    name = "echo"
    stand_in = True

    @property
    def model(self) -> str | None:
        """There is none."""
        return None

    def stream(self, request: GenerationRequest) -> Iterator[GenerationPiece]:
        """The prompt, unchanged, inside a fence that is longer than any run of backticks in it."""
        longest = max((len(run) for run in re.findall(r"`+", request.prompt)), default=0)
        fence = "`" * max(3, longest + 1)
        yield GenerationPiece(text=f"{fence}text\n{request.prompt.rstrip()}\n{fence}\n")


def create(
    settings: Mapping[str, object],  # noqa: ARG001 - one signature for every generator
    *,
    scorer: SentenceScorer | None,  # noqa: ARG001
    splitter: SentenceSplitter,  # noqa: ARG001
    space_fingerprint: str | None,  # noqa: ARG001
) -> EchoGenerator:
    """The stand-in; it has no settings."""
    return EchoGenerator()
