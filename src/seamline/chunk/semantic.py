"""The semantic chunker: sentences, divided where what is said before and after differs most.

Each sentence is embedded; at each gap between two sentences, the cosine between the mean of the three before
and the mean of the three after says how much the subject stays. A gap whose distance is above a percentile of
the document's distances is a border; what is still too long is divided at its widest gaps.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import reduce

from seamline.chunk.cutting import sentence_spans
from seamline.chunk.making import chunked
from seamline.chunk.packing import Draft, joined, union
from seamline.chunk.sections import Section, Unit, sections
from seamline.chunk.sizes import ChunkSizes, ParentSizes
from seamline.errors import SettingsError
from seamline.fingerprint import fingerprint, space_fingerprint
from seamline.ports import Embedder, SentenceSplitter
from seamline.types import Chunked, Document, Fingerprint

_ALGORITHM = "semantic/1"
_NEIGHBOURS = 3
"""Sentences on each side of a gap that are compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SemanticParts:
    """What a division by meaning needs beside sizes. ``percentile`` is of the gaps' distances, 0 to 100."""

    embedder: Embedder
    splitter: SentenceSplitter | None
    percentile: float

    @classmethod
    def of(
        cls, settings: Mapping[str, object], splitter: SentenceSplitter | None, embedder: Embedder | None
    ) -> SemanticParts:
        """Pick ``semantic_percentile``; raises ``SettingsError`` without an embedder: nothing replaces it."""
        if embedder is None:
            raise SettingsError(
                f"the chunker {settings['chunker']!r} needs an embedder, and none was given",
                hint="use the chunker structural, or chunk with an embedder: seamline chunk opens that of the kb",
            )
        return cls(embedder=embedder, splitter=splitter, percentile=float(str(settings["semantic_percentile"])))

    def identity(self) -> dict[str, object]:
        """What of these decides where borders are."""
        return {
            "space": space_fingerprint(self.embedder.space),
            "splitter": None if self.splitter is None else type(self.splitter).__qualname__,
            "percentile": self.percentile,
        }


class SemanticChunker:
    """Groups neighbouring sentences that say related things; headings only name the chunks."""

    def __init__(self, sizes: ChunkSizes, parts: SemanticParts, parents: ParentSizes | None = None) -> None:
        self._sizes, self._parts, self._parents = sizes, parts, parents

    @property
    def fingerprint(self) -> Fingerprint:
        """Identity of the algorithm, its sizes, its sentence splitter and the embedding space."""
        sizes = {"sizes": asdict(self._sizes), "parents": self._parents and asdict(self._parents)}
        return fingerprint("recipe", {"chunker": _ALGORITHM, **self._parts.identity(), **sizes})

    def chunk(self, document: Document) -> Chunked:
        """Children with exact spans, and parents; raises what the embedder raises."""
        drafts = divided(document, sections(document), self._sizes, self._parts)
        return chunked(document, joined(document, drafts, self._sizes), self._parents)


@dataclass(frozen=True, slots=True)
class _Atom:
    """What is never divided: a sentence, a row of a table that does not fit, another block that does."""

    draft: Draft
    heading: bool


def divided(document: Document, among: Sequence[Section], sizes: ChunkSizes, parts: SemanticParts) -> list[Draft]:
    """The sentences of some sections, grouped by meaning; only a whole block may be longer than the target."""
    atoms = [atom for section in among for atom in _atoms(document, section, sizes, parts.splitter)]
    if len(atoms) < 2:
        return [atom.draft for atom in atoms]
    distances = _distances(parts.embedder, [document.text[atom.draft.start : atom.draft.end] for atom in atoms])
    # A heading belongs to what follows it.
    distances = [-1.0 if atom.heading else gap for atom, gap in zip(atoms, distances, strict=False)]
    drafts = [atom.draft for atom in atoms]
    return [reduce(union, drafts[first:last]) for first, last in _groups(drafts, distances, sizes, parts.percentile)]


def _atoms(document: Document, section: Section, sizes: ChunkSizes, splitter: SentenceSplitter | None) -> list[_Atom]:
    return [
        _Atom(Draft(start, end, section.path, section.first, section.last), unit.heading)
        for unit in section.units
        for start, end in _ranges(document, unit, sizes, splitter)
    ]


def _ranges(
    document: Document, unit: Unit, sizes: ChunkSizes, splitter: SentenceSplitter | None
) -> Iterator[tuple[int, int]]:
    kept = unit.heading or unit.whole
    if kept and unit.length <= (sizes.whole if unit.whole else sizes.target):
        yield unit.start, unit.end
        return
    for start, end in unit.rows or ((unit.start, unit.end),):
        yield from sentence_spans(
            document.text,
            start,
            end,
            most=sizes.target,
            least=min(sizes.least, sizes.target // 3),
            splitter=None if kept else splitter,
            language=document.language,
        )


def _groups(
    atoms: Sequence[Draft], distances: Sequence[float], sizes: ChunkSizes, percentile: float
) -> Iterator[tuple[int, int]]:
    """Half-open ranges of atoms. ``distances[i]`` is that between the atoms ``i`` and ``i + 1``. Linear."""
    limit = _percentile(distances, percentile)
    first, index = 0, 1
    while index < len(atoms):
        if first < index and atoms[index].end - atoms[first].start > sizes.target:
            last = _widest(atoms, distances, first, index, sizes.target // 2)
            yield first, last
            first = last
            continue
        before = atoms[index - 1].end - atoms[first].start
        if first < index and distances[index - 1] > limit and before >= sizes.least:
            yield first, index
            first = index
        index += 1
    yield first, len(atoms)


def _widest(atoms: Sequence[Draft], distances: Sequence[float], first: int, index: int, least: int) -> int:
    """Before which atom of ``(first, index]`` the gap is widest, after at least ``least`` characters if possible."""
    late = [i for i in range(first + 1, index + 1) if atoms[i - 1].end - atoms[first].start >= least]
    return max(late or [index], key=lambda i: (distances[i - 1], i))


def _percentile(values: Sequence[float], percentile: float) -> float:
    import numpy as np

    return float(np.percentile(np.array(values), percentile))


def _distances(embedder: Embedder, texts: Sequence[str]) -> list[float]:
    """``1 - cosine`` at each of the ``len(texts) - 1`` gaps between neighbours, in [0, 2]."""
    import numpy as np

    vectors = embedder.embed_passages(texts).astype(np.float64)
    sums = np.vstack([np.zeros((1, vectors.shape[1])), np.cumsum(vectors, axis=0)])
    gaps = np.arange(1, len(texts))
    before = sums[gaps] - sums[np.maximum(gaps - _NEIGHBOURS, 0)]
    after = sums[np.minimum(gaps + _NEIGHBOURS, len(texts))] - sums[gaps]
    lengths = np.linalg.norm(before, axis=1) * np.linalg.norm(after, axis=1)
    cosines = np.einsum("ij,ij->i", before, after) / np.where(lengths > 0, lengths, 1.0)
    return [float(distance) for distance in 1.0 - cosines]


def create(
    settings: Mapping[str, object], splitter: SentenceSplitter | None = None, embedder: Embedder | None = None
) -> SemanticChunker:
    """The chunker for these settings; raises ``SettingsError`` without an embedder."""
    parts = SemanticParts.of(settings, splitter, embedder)
    return SemanticChunker(ChunkSizes.of(settings), parts, ParentSizes.of(settings))
