"""A scope as a condition on ``seamline.documents AS d``: the same text in every read and in both legs."""

from __future__ import annotations

from seamline.store.postgres.rows import comparable, storable
from seamline.types import Scope


def condition(scope: Scope) -> tuple[str, dict[str, object]]:
    """SQL that is true for the documents that a scope admits, and its parameters."""
    clauses, parameters = ["d.kb = %(kb)s"], dict[str, object]()
    principal = scope.principal
    if not principal.owner:
        clauses.append("(d.readable_by IS NULL OR d.readable_by && %(asker)s::text[])")
        parameters["asker"] = sorted(filter(storable, {principal.id, *principal.groups}))
    if scope.document_filter is not None:
        clauses.append("d.id = ANY(%(documents)s::text[])")
        parameters["documents"] = sorted(filter(storable, scope.document_filter))
    for place, (key, wanted) in enumerate(sorted(scope.metadata_filter.items())):
        clauses.append(
            f"EXISTS (SELECT FROM seamline.metadata m WHERE m.document = d.number"
            f" AND m.key = %(key{place})s AND m.value = ANY(%(values{place})s::bytea[]))"
        )
        parameters[f"key{place}"] = key.encode("utf-8", "surrogatepass")
        parameters[f"values{place}"] = [comparable(value) for value in wanted]
    return " AND ".join(clauses), parameters
