"""Every tunable of Seamline: one typed default, its bounds, and why one would change it.

Values come from defaults < ``seamline.toml`` < ``SEAMLINE_*`` < flags, and each remembers which. Nothing else
in the package reads ``os.environ``. A misspelt name is an error with a suggestion, never ignored. Secrets
may be written as references: ``env:NAME`` or ``file:PATH``.
"""

from __future__ import annotations

import difflib
import os
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from platformdirs import user_data_dir
from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, model_validator

from seamline.errors import SettingsError

PREFIX = "SEAMLINE_"
RESERVED = frozenset({"HOME", "CONFIG", "DATA", "DOCS"})
"""Variables with the prefix that are not settings (beside ``SEAMLINE_TEST_*``)."""
ALIASES = {"child_chars": "chunk_chars", "retrieve_k": "candidate_k"}

MIB = 1024 * 1024


class Settings(BaseModel):
    """All settings, flat. The environment variable of ``candidate_k`` is ``SEAMLINE_CANDIDATE_K``."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True)

    # ingest
    max_file_bytes: int = Field(100 * MIB, ge=1, description="Largest file read; raise it for big books or dumps.")
    max_files: int = Field(
        1_000_000, ge=1, description="Most files listed in one source; a guard against a wrong path."
    )
    max_total_bytes: int = Field(200 * 1024 * MIB, ge=1, description="Most bytes listed in one source.")
    max_depth: int = Field(64, ge=1, le=1000, description="Deepest folder visited below the source's root.")
    parse_timeout_s: float = Field(
        10.0, gt=0, le=3600, description="Seconds that one file may take in the parser child."
    )
    parse_memory_bytes: int = Field(1024 * MIB, ge=128 * MIB, description="Address space of the parser child.")
    parse_output_chars: int = Field(
        50_000_000, ge=1000, description="Most characters that one file may yield; the rest is cut and counted."
    )
    mass_delete_share: float = Field(
        0.2, ge=0, le=1, description="A sync that would remove a larger share needs --allow-mass-delete."
    )
    mass_delete_floor: int = Field(10, ge=0, description="Removing at most this many documents never needs permission.")
    commit_batch: int = Field(
        64, ge=1, le=10_000, description="Documents a commit; smaller loses less work in a crash, larger is faster."
    )

    # chunking
    chunker: str = Field(
        "structural", description="How documents are cut: structural, fixed, semantic, hybrid or window-1000-200."
    )
    semantic_percentile: float = Field(
        90.0, ge=0, le=100, description="semantic, hybrid: a gap between sentences wider than this share is a border."
    )
    chunk_chars: int = Field(
        600, ge=50, le=10_000, description="Target size of a chunk; bigger dilutes the vector, smaller loses context."
    )
    chunk_overlap_chars: int | None = Field(
        None, ge=0, le=5_000, description="Overlap in characters; unset, child_overlap decides."
    )
    parent_chars: int = Field(
        1500, ge=50, le=10_000, description="Size of a parent, the text around a chunk; bigger shows more context."
    )
    parent_overlap: float = Field(
        0.1, ge=0, le=0.5, description="Overlap of parents as a share of parent_chars, inside long sections."
    )
    child_overlap: float = Field(
        0.0, ge=0, le=0.5, description="Overlap as a share of chunk_chars, where a long block must be cut."
    )
    min_chunk_chars: int = Field(
        50, ge=1, le=10_000, description="Smaller pieces are joined to a neighbour of the same section."
    )
    max_chunk_chars: int = Field(10_000, ge=50, le=10_000, description="No chunk is longer.")
    embed_max_chars: int | None = Field(
        None,
        ge=50,
        le=100_000,
        description="Ceiling on what one vector holds, headings included; longer chunks are divided. Unset: the embedder's window, or 512 where it declares none.",
    )

    # embedding
    embedding_provider: str = Field(
        "auto",
        description="auto: the kb's own space; for a new kb local when its model is present, else the stand-in hash.",
    )
    embedding_precision: Literal["int8", "float32"] = Field(
        "int8", description="Of the local model: int8 is faster, float32 exact. They are two spaces."
    )
    embedding_model_dir: str | None = Field(
        None, description="A directory with model.safetensors and tokenizer.json, tried before all else."
    )
    embedding_base_url: str | None = Field(
        None, description="Address of an embedding service; unset: the official one of the provider, tei has none."
    )
    embedding_model: str | None = Field(None, description="Model named to the service; unset: the provider's own.")
    embedding_api_key: SecretStr | None = Field(
        None, description="Key of the service; env:NAME and file:PATH are references."
    )
    embedding_timeout_s: float = Field(30.0, gt=0, le=3600, description="Seconds for one request to the service.")
    embedding_retries: int = Field(4, ge=0, le=20, description="Retries on 429, 5xx and a lost connection.")
    embedding_batch: int = Field(64, ge=1, le=2048, description="Texts a request to the service, which may take fewer.")
    embedding_dimensions: int | None = Field(
        None, ge=1, le=65_536, description="Shorter vectors, where the model can; unset: its full length."
    )
    embedding_query_prefix: str | None = Field(
        None, description="Put before each question; unset: what the prefix table says of the model."
    )
    embedding_passage_prefix: str | None = Field(
        None, description="Put before each passage; unset: what the prefix table says of the model."
    )
    embedding_threads: int = Field(0, ge=0, le=256, description="Sessions used for bulk embedding; 0 is one a core.")
    model_cache_dir: str | None = Field(None, description="Where built models are kept; unset: models/ under the home.")
    canary_min_cosine: float = Field(
        0.99, ge=0, le=1, description="Below it the model is not the one that indexed, and dense queries are refused."
    )

    # store
    store: str = Field("embedded", description="Which store holds a new kb.")
    vector_dtype: Literal["float16", "float32"] = Field(
        "float16", description="Stored precision of vectors; float32 doubles the file."
    )
    postings_cache_bytes: int = Field(
        256 * MIB, ge=MIB, description="Memory for decoded postings; more keeps more terms warm."
    )
    scan_threads: int = Field(0, ge=0, le=256, description="Threads of the dense scan; 0 is one a core.")
    write_timeout_s: float = Field(10.0, ge=0, le=3600, description="How long a writer waits for another one.")
    postgres_dsn: SecretStr | None = Field(
        None, description="Connection string of the postgres store; env:NAME and file:PATH are references."
    )
    postgres_pool_size: int = Field(
        4, ge=1, le=1000, description="Reading connections that an open postgres store keeps at most."
    )
    postgres_keyword_scoring: Literal["bm25", "ts_rank_cd"] = Field(
        "bm25",
        description="bm25: as every other store; ts_rank_cd: PostgreSQL's own ranking, all words of the question required.",
    )
    qdrant_url: str | None = Field(
        None, description="Server of the qdrant store; unset: the client's local mode in the kb's folder, one process."
    )
    qdrant_api_key: SecretStr | None = Field(
        None, description="Key of the Qdrant server; env:NAME and file:PATH are references."
    )

    # retrieval
    mode: Literal["economy", "dense", "keyword", "hybrid"] = Field(
        "economy", description="Retrieval mode when none is asked for."
    )
    candidate_k: int = Field(100, ge=1, le=10_000, description="Candidates a leg before fusion: the recall ceiling.")
    rerank_top_n: int | None = Field(
        None, ge=1, le=10_000, description="Passages returned, all that a model ever sees; unset: limit_economy."
    )
    limit_economy: int = Field(5, ge=1, le=10_000, description="Passages returned in economy mode.")
    fusion: Literal["weighted", "rrf", "dbsf"] = Field("weighted", description="How the two legs are fused.")
    fusion_alpha: float = Field(
        0.6, ge=0, le=1, description="Weight of the dense leg where the model covers the language."
    )
    fusion_alpha_uncovered: float = Field(0.2, ge=0, le=1, description="Weight of the dense leg where it does not.")
    fusion_normaliser: Literal["theoretical", "shifted", "min_max", "z_score"] = Field(
        "theoretical", description="How weighted fusion brings both scores to one scale."
    )
    rrf_k: float = Field(60.0, gt=0, le=10_000, description="Rank constant of reciprocal rank fusion; larger flattens.")
    bm25_k1: float = Field(1.2, ge=0, le=10, description="BM25 term frequency saturation.")
    bm25_b: float = Field(0.75, ge=0, le=1, description="BM25 length normalisation.")
    query_chars: int = Field(8000, ge=1, le=1_000_000, description="Longest question.")
    min_cosine: float | None = Field(
        None, ge=-1, le=1, description="Gate: cosine that admits a passage; unset admits all, uncalibrated."
    )
    confident_cosine: float | None = Field(
        None, ge=-1, le=1, description="Cosine from which a passage counts as confident."
    )
    near_duplicate_jaccard: float = Field(
        0.9, gt=0, le=1, description="Shingle similarity from which two passages are one."
    )

    # reranking
    rerank_provider: str = Field("off", description="Off until a gate turned it on for your corpus.")
    rerank_candidates: int = Field(30, ge=1, le=1000, description="Fused passages sent to the reranker.")
    rerank_timeout_s: float = Field(2.0, gt=0, le=600, description="Deadline of the reranking stage.")
    rerank_max_chars: int = Field(
        8000, ge=100, le=1_000_000, description="Longest text sent to the reranker; cut between words, and counted."
    )
    rerank_base_url: str | None = Field(None, description="Address of the reranking service; tei has no default.")
    rerank_model: str | None = Field(None, description="Model named to the service; unset: the provider's own.")
    rerank_api_key: SecretStr | None = Field(
        None, description="Key of the service; env:NAME and file:PATH are references."
    )
    rerank_retries: int = Field(
        1, ge=0, le=10, description="Retries on 429, 5xx and a lost connection, within the deadline."
    )
    rerank_batch: int = Field(
        32, ge=0, le=1000, description="Texts a request to the service, which may refuse more; 0: all in one."
    )
    rerank_model_dir: str | None = Field(
        None, description="Directory of a cross-encoder: tokenizer.json and model.onnx."
    )
    rerank_window: int = Field(
        512, ge=16, le=32_768, description="Tokens of question and text that the cross-encoder takes."
    )
    rerank_breaker_failures: int = Field(
        5, ge=1, le=1000, description="Faults in a row after which the reranker is not called for a while."
    )
    rerank_breaker_s: float = Field(30.0, ge=0, le=3600, description="How long it is then not called.")
    rerank_cache_entries: int = Field(
        10_000, ge=0, le=10_000_000, description="Rerank scores kept in memory; 0 keeps none."
    )
    rerank_min_score: float | None = Field(None, description="Gate: rerank score that admits a passage.")
    rerank_confident_score: float | None = Field(
        None, description="Rerank score from which a passage counts as confident."
    )

    # generation
    generation_provider: str = Field("extractive", description="Who writes answers: extractive needs no model.")
    generation_base_url: str | None = Field(
        None, description="Base URL of the chat endpoint; unset: the official one of the provider."
    )
    generation_model: str | None = Field(None, description="Model name sent to the endpoint.")
    generation_api_key: SecretStr | None = Field(
        None, description="Key of the endpoint; env:NAME and file:PATH are references."
    )
    generation_timeout_s: float = Field(60.0, gt=0, le=3600, description="Seconds for one call, first byte included.")
    generation_retries: int = Field(2, ge=0, le=10, description="Retries on 429 and 5xx, honouring Retry-After.")
    generation_max_tokens: int = Field(1024, ge=1, le=1_000_000, description="Longest answer.")
    generation_temperature: float = Field(0.0, ge=0, le=2, description="Sampling temperature.")
    generation_input_price: float | None = Field(
        None,
        ge=0,
        description="Price of a million prompt tokens, in any currency; with the next one it gives the cost.",
    )
    generation_output_price: float | None = Field(
        None, ge=0, description="Price of a million generated tokens, in the same currency."
    )
    condense: bool = Field(
        False, description="Let the model rewrite a follow-up of a conversation as a question of its own; costs a call."
    )
    prompt_template: Literal["qa", "summary", "custom"] = Field(
        "qa", description="How the prompt is worded: answer, summarise, or your own text."
    )
    prompt_template_file: str | None = Field(
        None, description="The custom template: text with {query} and {documents}, and {count} if wanted."
    )
    prompt_tokens: int = Field(
        6000, ge=100, le=10_000_000, description="Budget of the prompt; whole passages are dropped from the tail."
    )
    prompt_layout: Literal["best_first", "edges"] = Field("best_first", description="Order of passages in the prompt.")
    include_scores: bool = Field(False, description="Print each passage's named score in the prompt.")
    include_sources: bool = Field(True, description="Print each passage's source in the prompt.")
    unsupported_sentences: Literal["mark", "remove"] = Field(
        "mark", description="What happens to a cited sentence that its source does not support."
    )
    extractive_sentences: int = Field(3, ge=1, le=20, description="Most sentences of an extractive answer.")
    extractive_chars: int = Field(400, ge=50, le=10_000, description="Most characters of an extractive answer.")
    extractive_passages: int = Field(
        10, ge=1, le=1000, description="Passages read for an extractive answer when no limit is given."
    )
    extractive_min_score: float | None = Field(
        None,
        ge=-3,
        le=3,
        description="Sentence score below which the extractive answer abstains; unset: the value shipped for the space, else a stated default.",
    )

    # evaluation
    eval_k: int = Field(8, ge=1, le=1000, description="k of recall@k.")
    eval_seed: int = Field(20260, ge=0, description="Seed of bootstrap and randomisation tests.")
    gate_margin: float = Field(0.005, ge=0, le=1, description="Largest loss of ndcg@10 that a gate lets pass.")
    calibration: Literal["auto", "off"] = Field(
        "auto", description="auto: the kb's calibration.toml, where it has one, below everything stated; off: not read."
    )
    min_ndcg: float = Field(0.0, ge=0, le=1, description="Lowest ndcg@10 that a gate accepts; 0 gates nothing.")

    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field(
        "WARNING", description="Level of the log on stderr."
    )

    @model_validator(mode="after")
    def _consistent(self) -> Settings:
        if self.min_chunk_chars > self.chunk_chars:
            raise ValueError(f"min_chunk_chars ({self.min_chunk_chars}) is above chunk_chars ({self.chunk_chars})")
        if self.chunk_overlap_chars is not None and self.chunk_overlap_chars * 2 > self.chunk_chars:
            raise ValueError("chunk_overlap_chars may be at most half of chunk_chars")
        if self.chunk_chars > self.max_chunk_chars:
            raise ValueError(f"chunk_chars ({self.chunk_chars}) is above max_chunk_chars ({self.max_chunk_chars})")
        return self

    def overlap(self) -> int:
        """The overlap in characters: ``chunk_overlap_chars``, else ``child_overlap`` of ``chunk_chars``."""
        return (
            self.chunk_overlap_chars
            if self.chunk_overlap_chars is not None
            else round(self.child_overlap * self.chunk_chars)
        )

    def mapping(self) -> dict[str, Any]:
        """Name to value, as provider factories receive it; secrets stay ``SecretStr``."""
        return {name: getattr(self, name) for name in type(self).model_fields}


@dataclass(frozen=True, slots=True)
class LoadedSettings:
    """Settings with where each value came from: ``default``, a file's path, a variable, or ``flag``."""

    values: Settings
    sources: Mapping[str, str]

    def override(self, flags: Mapping[str, object]) -> LoadedSettings:
        """A copy with some values replaced, as by flags; an empty string is the default; raises ``SettingsError``."""
        given = {name: value for name, value in flags.items() if value is not None}
        for name in given:
            _known(name, f"the setting {name!r}")
        merged = {name: getattr(self.values, name) for name, source in self.sources.items() if source != "default"}
        canonical = {ALIASES.get(name, name): _flag(ALIASES.get(name, name), value) for name, value in given.items()}
        return LoadedSettings(_validated(merged | canonical), {**self.sources, **dict.fromkeys(canonical, "flag")})


def home_dir(given: str | os.PathLike[str] | None = None) -> Path:
    """The home: ``given``, else ``SEAMLINE_HOME``, else the platform's user data directory."""
    chosen = given or os.environ.get("SEAMLINE_HOME") or user_data_dir("seamline", appauthor=False)
    return Path(chosen).expanduser().absolute()


def load(
    flags: Mapping[str, object] | None = None,
    *,
    config: str | os.PathLike[str] | None = None,
    environ: Mapping[str, str] | None = None,
    problems: list[SettingsError] | None = None,
) -> LoadedSettings:
    """Settings from all sources; raises ``SettingsError`` naming the source of a bad value.

    With ``problems`` a bad value is left at its default and the error is appended there, so that the rest can be
    shown.
    """
    environ = os.environ if environ is None else environ
    found: dict[str, tuple[object, str]] = {}
    for read in (lambda: _from_file(config, environ), lambda: _from_environment(environ)):
        for name, value, source in _collected(read, problems):
            found[name] = (value, source)
    values: dict[str, object] = {}
    sources = dict.fromkeys(Settings.model_fields, "default")
    for name, (value, source) in found.items():
        try:
            checked = _secret(value, environ, source) if name in SECRETS and isinstance(value, str) else value
            if problems is not None:
                _validated({name: checked}, {name: source})
        except SettingsError as error:
            if problems is None:
                raise
            problems.append(error)
            continue
        values[name], sources[name] = checked, source
    loaded = LoadedSettings(_validated(values, sources), sources)
    return loaded.override(flags) if flags else loaded


def canonical(name: str) -> str:
    """The name of a setting, however it is written: ``rrf_k``, ``SEAMLINE_RRF_K``, or an older name.

    Raises ``SettingsError`` with a suggestion.
    """
    bare = name.strip().lower().removeprefix(PREFIX.lower())
    return _known(bare, f"the setting {bare!r}")


def bounds(name: str) -> str:
    """What a setting accepts, in words: its choices, its limits, else its type."""
    schema: dict[str, Any] = Settings.model_json_schema()["properties"][name]
    options = schema.get("anyOf", [schema])
    choices = [
        str(value) for option in options for value in [*option.get("enum", []), *filter(None, [option.get("const")])]
    ]
    signs = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<"}
    limits = [f"{sign} {option[key]}" for option in options for key, sign in signs.items() if key in option]
    kinds = sorted({option["type"] for option in options if option.get("type", "null") != "null"})
    return ", ".join(choices or limits or kinds)


SECRETS = frozenset(name for name, info in Settings.model_fields.items() if "SecretStr" in str(info.annotation))
"""Settings whose values are never shown."""


def _collected(
    read: Callable[[], Iterator[tuple[str, object, str]]], problems: list[SettingsError] | None
) -> Iterator[tuple[str, object, str]]:
    """What ``read`` yields; unknown names and unreadable files are raised, or gathered in ``problems``."""
    try:
        items = list(read())
    except SettingsError as error:
        if problems is None:
            raise
        problems.append(error)
        return
    for name, value, source in items:
        where = source if source.startswith(PREFIX) else f"{name!r} in {source}"
        try:
            yield _known(name, where), value, source
        except SettingsError as error:
            if problems is None:
                raise
            problems.append(error)


def _from_file(config: str | os.PathLike[str] | None, environ: Mapping[str, str]) -> Iterator[tuple[str, object, str]]:
    named = config or environ.get("SEAMLINE_CONFIG")
    path = Path(named) if named else Path("seamline.toml")
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        if named:
            raise SettingsError(f"{path}: no such settings file", hint="check --config and SEAMLINE_CONFIG") from None
        return
    except OSError as error:
        raise SettingsError(
            f"{path}: cannot be read ({error.strerror})", hint="make it readable, or name another file with --config"
        ) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path}: not valid TOML: {error}", hint="write NAME = VALUE, one a line") from error
    for name, value in table.items():
        yield name, value, str(path)


def _from_environment(environ: Mapping[str, str]) -> Iterator[tuple[str, object, str]]:
    """The variables that are settings; an empty one counts as not set."""
    for variable, value in environ.items():
        bare = variable.removeprefix(PREFIX)
        if variable != bare and value != "" and bare not in RESERVED and not bare.startswith("TEST_"):
            yield bare.lower(), value, variable


def _flag(name: str, value: object) -> object:
    """The value of a flag or a keyword: a secret's reference is followed, an empty one is the default."""
    if value == "":
        return Settings.model_fields[name].default
    return _secret(value, os.environ, f"the flag {name}") if name in SECRETS and isinstance(value, str) else value


def _known(name: str, where: str) -> str:
    canonical = ALIASES.get(name, name)
    if canonical in Settings.model_fields:
        return canonical
    close = [
        ALIASES.get(near, near) for near in difflib.get_close_matches(name, [*Settings.model_fields, *ALIASES], n=1)
    ]
    shown = (PREFIX + close[0].upper() if where.startswith(PREFIX) else close[0]) if close else None
    raise SettingsError(
        f"unknown setting: {where}",
        hint=f"did you mean {shown}?" if shown else "`seamline settings` lists them all",
    )


def _secret(value: str, environ: Mapping[str, str], source: str) -> SecretStr:
    kind, _, rest = value.partition(":")
    if kind == "env":
        if rest not in environ:
            raise SettingsError(
                f"{source}: the secret reference env:{rest} names a variable that is not set", hint=f"export {rest}=..."
            )
        return SecretStr(environ[rest])
    if kind == "file":
        try:
            return SecretStr(Path(rest).expanduser().read_text(encoding="utf-8").strip())
        except (OSError, UnicodeDecodeError) as error:
            why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
            raise SettingsError(
                f"{source}: the secret file {rest} cannot be read ({why})", hint="write the secret alone into it"
            ) from None
    return SecretStr(value)


def _validated(values: Mapping[str, object], sources: Mapping[str, str] | None = None) -> Settings:
    try:
        return Settings.model_validate(values)
    except ValidationError as error:
        # Never the raw input: it may be a secret.
        first = error.errors(include_input=False, include_url=False)[0]
        name = str(first["loc"][0]) if first["loc"] else ""
        source = (sources or {}).get(name, "flag")
        where = f"{name} (from {source})" if name else "settings"
        raise SettingsError(f"{where}: {first['msg']}", hint="`seamline settings` shows bounds and sources") from None
