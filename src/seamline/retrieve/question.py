"""The question: what is accepted as one, and the form in which it is embedded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from seamline.errors import QueryError

_TRAILING = " \t\r\n.?!…。？！｡؟;:,،、；：⁇‽"
"""Whitespace and sentence ends. Not every punctuation mark: the ``#`` of ``C#`` is part of a name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A validated question.

    ``language`` is a BCP-47 tag of the question, ``None`` when unknown. ``keyword_languages`` are those in which
    it is analysed for the keyword leg (usually its own and those of the kb); there is at least one.
    """

    text: str
    language: str | None
    keyword_languages: tuple[str | None, ...]

    def __post_init__(self) -> None:
        """Refuse an analysis in no language: it would silence the keyword leg unseen."""
        if not self.keyword_languages:
            raise ValueError("keyword_languages is empty: name at least one, None for an unknown language")


def validate(query: str | Sequence[Mapping[str, object]], max_chars: int) -> str:
    """The question's text without surrounding whitespace; of a chat context, its last user turn.

    Raises:
        QueryError: not text, empty, longer than ``max_chars`` characters, or with NUL bytes or lone surrogates.
    """
    text = query if isinstance(query, str) else _last_user_turn(query)
    if len(text) > max_chars:
        raise QueryError(
            f"the question has {len(text):,} characters, and at most {max_chars:,} are accepted",
            hint="shorten it, or raise SEAMLINE_QUERY_CHARS",
        )
    if "\0" in text:
        raise QueryError(f"the question holds a NUL byte at character {text.index(chr(0))}", hint="remove it")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise QueryError(
            f"the question holds a lone surrogate at character {error.start}",
            hint="it was decoded wrongly; decode the bytes as UTF-8",
        ) from None
    if not text.strip():
        raise QueryError("the question is empty", hint="ask at least one word")
    return text.strip()


def validate_limit(limit: int, candidate_k: int) -> int:
    """The number of passages asked for; raises ``QueryError`` below 1 or above the pool size."""
    if isinstance(limit, bool) or not isinstance(limit, int):
        raise QueryError(f"limit is a {type(limit).__name__}, not a whole number", hint="ask for 1 passage or more")
    if limit < 1:
        raise QueryError(f"limit is {limit}", hint="ask for 1 passage or more")
    if limit > candidate_k:
        raise QueryError(
            f"limit is {limit}, and only {candidate_k} candidates a leg are looked at",
            hint=f"raise SEAMLINE_CANDIDATE_K to {limit} or more",
        )
    return limit


def embedding_text(text: str) -> str:
    """The form that is embedded: whitespace runs as one space, no sentence end (rule 34).

    A question of nothing but sentence ends stays as it is.
    """
    collapsed = " ".join(text.split())
    return collapsed.rstrip(_TRAILING) or collapsed


def _last_user_turn(turns: Sequence[Mapping[str, object]]) -> str:
    if not isinstance(turns, Sequence) or not all(isinstance(turn, Mapping) for turn in turns):
        raise QueryError(
            f"the query is a {type(turns).__name__}", hint='pass text, or a list of {"role": ..., "content": ...}'
        )
    said = [turn.get("content") for turn in turns if turn.get("role") == "user"]
    if not said:
        raise QueryError("the chat context has no user turn", hint='the question is the last turn of role "user"')
    if not isinstance(said[-1], str):
        raise QueryError(
            f"the content of the last user turn is a {type(said[-1]).__name__}, not text", hint="pass its text only"
        )
    return said[-1]
