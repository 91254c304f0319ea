"""The prefix table: what each family's card asks for."""

from __future__ import annotations

import pytest

from seamline.embed.prefixes import families, family_of

SEARCH = "Represent this sentence for searching relevant passages: "
INSTRUCT = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery: "


@pytest.mark.parametrize(
    ("model", "query", "passage", "pooling", "window"),
    [
        ("intfloat/multilingual-e5-small", "query: ", "passage: ", "mean", 512),
        ("intfloat/e5-base-v2", "query: ", "passage: ", "mean", 512),
        ("intfloat/multilingual-e5-large-instruct", INSTRUCT, "", "mean", 512),
        ("intfloat/e5-mistral-7b-instruct", INSTRUCT, "", "last", 4096),
        ("BAAI/bge-small-en-v1.5", SEARCH, "", "cls", 512),
        ("BAAI/bge-large-zh-v1.5", "为这个句子生成表示以用于检索相关文章：", "", "cls", 512),
        ("BAAI/bge-m3", "", "", "cls", 8192),
        ("nomic-ai/nomic-embed-text-v1.5", "search_query: ", "search_document: ", "mean", 8192),
        ("nomic-ai/nomic-embed-text-v2-moe", "search_query: ", "search_document: ", "mean", 512),
        ("Snowflake/snowflake-arctic-embed-m-v1.5", SEARCH, "", "cls", 512),
        ("Snowflake/snowflake-arctic-embed-l-v2.0", "query: ", "", "cls", 8192),
        ("Snowflake/snowflake-arctic-embed-m-long", SEARCH, "", "cls", 2048),
        ("snowflake-arctic-embed2:568m", "query: ", "", "cls", 8192),
        ("snowflake-arctic-embed:335m", SEARCH, "", "cls", 512),
        ("mxbai-embed-large:latest", SEARCH, "", "cls", 512),
        ("thenlper/gte-base", "", "", "mean", 512),
        ("Alibaba-NLP/gte-large-en-v1.5", "", "", "cls", 8192),
        ("Alibaba-NLP/gte-multilingual-base", "", "", "cls", 8192),
        ("Alibaba-NLP/gte-Qwen2-1.5B-instruct", INSTRUCT, "", "last", 32768),
        ("mixedbread-ai/mxbai-embed-large-v1", SEARCH, "", "cls", 512),
        ("Qwen/Qwen3-Embedding-0.6B", INSTRUCT.rstrip(), "", "last", 32768),
        ("google/embeddinggemma-300m", "task: search result | query: ", "title: none | text: ", "mean", 2048),
        ("sentence-transformers/all-MiniLM-L6-v2", "", "", "mean", 256),
        ("jinaai/jina-embeddings-v2-base-en", "", "", "mean", 8192),
    ],
)
def test_rule_21_prefixes_by_family(model: str, query: str, passage: str, pooling: str, window: int) -> None:
    family = family_of(model)
    assert family is not None
    assert (family.query_prefix, family.passage_prefix) == (query, passage)
    assert (family.pooling, family.window) == (pooling, window)


def test_rule_21_jina_v3_is_told_the_task_instead() -> None:
    family = family_of("jinaai/jina-embeddings-v3")
    assert family is not None
    assert (family.query_task, family.passage_task) == ("retrieval.query", "retrieval.passage")
    assert family.query_prefix == family.passage_prefix == ""


def test_a_model_that_is_not_in_the_table_has_no_family() -> None:
    assert family_of("somebody/some-encoder") is None


def test_no_pattern_is_hidden_by_an_earlier_one() -> None:
    for family in families():
        example = family.pattern.replace("*", "x")
        assert family_of(example) is family, f"{family.pattern} is never reached"
