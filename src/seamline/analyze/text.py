"""Keyword analysis: the same text gives the same terms in a document and in a question, language by language.

NFKC, words (with their combining marks), case fold, stop words, Snowball stem, accents folded where that is
customary. Scripts without spaces become pairs of characters. A compound (``ERR_CONN-42``, ``v2.1.3``,
``a.b@c.org``) is one term as a whole, and its parts are terms as well.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, pairwise
from threading import Lock

import Stemmer  # type: ignore[import-not-found]

from seamline.analyze.languages import UNKNOWN, Profile, language_by_script, primary_tag, profile, stop_words
from seamline.analyze.query import QuerySyntax, parse
from seamline.analyze.scan import JOINERS, TOKEN, clean, clusters, segments
from seamline.fingerprint import fingerprint
from seamline.types import Fingerprint, KeywordQuery

ALGORITHM_VERSION = 1
"""Raised whenever the terms of any text change: it makes a new analyzer fingerprint."""

_CACHED_TOKENS = 200_000
_CACHED_LENGTH = 40
_PARTS = re.compile(r"[-./@&_]+")
_CAMEL = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_]+")
_HUMP = re.compile(r"[a-z][A-Z]")
_HYPHENATED = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)+")
_SNOWBALL = frozenset(Stemmer.algorithms())


def create(settings: Mapping[str, object]) -> TextAnalyzer:  # noqa: ARG001 - the factory's port; nothing to configure
    """The analyzer; it has no settings."""
    return TextAnalyzer()


class TextAnalyzer:
    """Implements ``ports.Analyzer``; safe to call from several threads."""

    def __init__(self) -> None:
        """Nothing is loaded before a language is met."""
        self._lock = Lock()
        self._stemmers: dict[str, Stemmer.Stemmer] = {}
        self._tables: dict[tuple[str, bool], _TermTable] = {}

    @property
    def fingerprint(self) -> Fingerprint:
        """Algorithm, stop words, stemmer and Unicode versions: all that decides a stored term."""
        return fingerprint(
            "recipe",
            {
                "analyzer": ALGORITHM_VERSION,
                "stop_words": stop_words(),
                "snowball": Stemmer.version(),
                "unicode": unicodedata.unidata_version,
            },
        )

    def terms(self, text: str, language: str | None) -> list[str]:
        """The terms of a chunk in text order, repeated as often as they occur; empty when there are none."""
        return self._analyse(clean(text), language, question=False)

    def query(self, text: str, languages: Sequence[str | None]) -> KeywordQuery:
        """The union of the question's terms in ``languages`` (unknown language when there are none).

        The first language is taken for the question's own: its stop words are left out of every analysis, since
        a stop word is rare, and so weighs much, in chunks of another language. A term counts as often as the question
        holds it, in the language where it does so most. Words of a quoted phrase are terms too. An excluded compound
        is excluded as a whole, not by its parts; a longer run of a script without spaces has no term of its own, so
        that ``-`` before it is plain text.
        """
        syntax: QuerySyntax = parse(clean(text))
        barred = [word for word in syntax.excluded if _is_one_term(word)]
        plain = " ".join([syntax.text, *(word for word in syntax.excluded if word not in barred)])
        counts: Counter[str] = Counter()
        excluded: set[str] = set()
        own = self._table(primary_tag(languages[0] if languages else None), True)
        said = " ".join(token for token in TOKEN.findall(plain) if own[token])
        for language in languages or (None,):
            # A question of nothing but stop words ("The Who") asks for these.
            asked = self._analyse(said or plain, language, question=bool(said))
            counts |= Counter(asked)
            for word in barred:  # the first term is the whole
                excluded.update(self._analyse(word, language, question=False)[:1])
        terms = tuple(sorted(counts))
        repeated = tuple(counts[term] for term in terms)
        return KeywordQuery(
            terms=terms,
            phrases=syntax.phrases,
            excluded=tuple(sorted(excluded)),
            counts=repeated if max(repeated, default=1) > 1 else (),
            text=text,
            languages=tuple(languages),
        )

    def _analyse(self, cleaned: str, language: str | None, *, question: bool) -> list[str]:
        table = self._table(primary_tag(language), question)
        return list(chain.from_iterable(map(table.__getitem__, TOKEN.findall(cleaned))))

    def _table(self, tag: str, question: bool) -> _TermTable:
        table = self._tables.get((tag, question))
        if table is None:
            table = self._tables.setdefault((tag, question), _TermTable(tag, question, self._stem))
        return table

    def _stem(self, algorithm: str, word: str) -> str:
        with self._lock:  # Snowball's stemmers keep their working string in themselves
            if algorithm not in self._stemmers:
                self._stemmers[algorithm] = Stemmer.Stemmer(algorithm, 0)
            return str(self._stemmers[algorithm].stemWord(word))


class _TermTable(dict[str, tuple[str, ...]]):
    """Token -> terms for one language: a text has few distinct words, so each is analysed once."""

    def __init__(self, tag: str, question: bool, stem: Callable[[str, str], str]) -> None:
        super().__init__()
        self._tag, self._question, self._stem = tag, question, stem

    def __missing__(self, token: str) -> tuple[str, ...]:
        terms = tuple(chain.from_iterable(self._segment(kind, run) for kind, run in segments(token)))
        if len(token) <= _CACHED_LENGTH:
            if len(self) >= _CACHED_TOKENS:
                self.clear()
            self[token] = terms
        return terms

    def _segment(self, kind: str, run: str) -> Iterable[str]:
        if kind == "unspaced":
            return self._pairs(list(run), singles=not self._question)
        if kind == "clustered":
            return self._pairs(clusters(run), singles=False)
        return self._word(run.strip(JOINERS + "_"))

    def _pairs(self, characters: list[str], *, singles: bool) -> list[str]:
        pairs = [first + second for first, second in pairwise(characters)]
        return pairs + characters if singles or len(characters) == 1 else pairs

    def _word(self, word: str) -> list[str]:
        if not word:
            return []
        language = profile(language_by_script(word) if self._tag == UNKNOWN else self._tag)
        folded = _fold(word)
        if language.elided and "'" in folded:
            return [term for piece in folded.split("'") for term in self._compound(piece, piece, language)]
        if language.language == "en":
            folded = folded.removesuffix("'s")
        return self._compound(word, folded.replace("'", ""), language)

    def _compound(self, word: str, folded: str, language: Profile) -> list[str]:
        """The whole and its parts.

        A question's ``boundary-layer`` asks for the parts alone: counting the whole on top of them costs .002
        to .004 nDCG@10 on four of five English sets. ``camelCase`` is taken apart in documents only: a
        question's letter case must not change it.
        """
        parts = [part for part in _PARTS.split(folded) if part]
        if len(parts) > 1:
            terms = list(chain.from_iterable(self._term(part, language) for part in parts))
            if self._question and _HYPHENATED.fullmatch(folded):
                return terms
            return [_without_accents(folded, language.kept_letters) if language.fold_accents else folded, *terms]
        terms = self._term(parts[0], language) if parts else []
        if not self._question and _HUMP.search(word):
            humps = [_fold(hump) for hump in _CAMEL.findall(word) if len(hump) > 1]
            terms += chain.from_iterable(self._term(hump, language) for hump in humps)
        return terms

    def _term(self, word: str, language: Profile) -> list[str]:
        if word in language.stop_words or (self._question and word in language.question_words):
            return []
        if language.stemmer is not None and language.stemmer in _SNOWBALL:
            word = self._stem(language.stemmer, word)
        if language.fold_accents and not word.isascii():
            word = _without_accents(word, language.kept_letters)
        return [word] if word else []


def _is_one_term(word: str) -> bool:
    """Whether a document holding ``word`` has one term that stands for all of it."""
    (kind, run), *more = segments(word)
    return not more and (kind == "word" or len(clusters(run) if kind == "clustered" else run) <= 2)


def _fold(word: str) -> str:
    """Case folded; typographic variants of hyphen, apostrophe, digits and Russian ё made one."""
    if word.isascii():
        return word.lower()
    folded = unicodedata.normalize("NFKC", word.casefold()).replace("i\u0307", "i")
    folded = folded.replace("\u2010", "-").replace("\u2019", "'").replace("ё", "е")
    return "".join(str(unicodedata.decimal(c)) if c.isdecimal() else c for c in folded)


def _without_accents(word: str, kept: str) -> str:
    if word.isascii():
        return word
    return "".join(
        c if c in kept else "".join(p for p in unicodedata.normalize("NFD", c) if not unicodedata.combining(p))
        for c in word
    )
