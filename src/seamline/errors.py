"""Every error that Seamline raises on purpose.

::

    SeamlineError
    ├── UsageError                  the call itself is wrong
    │   ├── QueryError              an empty, oversized or malformed question
    │   ├── NotAllowedError         only the owner may change a knowledge base
    │   ├── SettingsError           an unknown setting, or a value outside its bounds
    │   └── NotFoundError           a kb, document or chunk that does not exist, or that you may not see
    ├── UnavailableError            a part that this installation or this kb does not have
    │   ├── MissingExtraError       a package is not installed; the hint is the install command
    │   ├── ModelMissingError       model weights are not on this machine
    │   └── ModeUnavailableError    a retrieval mode that the kb was not indexed for
    ├── IntegrityError              evidence would be wrong; nothing was changed
    │   ├── SpaceMismatchError      the kb was embedded in another space
    │   ├── CalibrationError        calibrated settings of another space or reranker
    │   ├── VersionConflictError    the same version with other bytes
    │   ├── IdCollisionError        two sources claim one document id
    │   ├── ArtifactError           an artifact that is damaged, or whose chunks do not match its documents
    │   ├── StoreCorruptError       a stored index does not pass its own checks
    │   └── WeightsMismatchError    model weights with an unexpected hash
    ├── IngestError                 a source or a document could not be read
    │   ├── TransientIngestError    a file that cannot be read now, but may be at the next sync
    │   ├── ListingError            a listing is incomplete, so nothing may be removed
    │   ├── MassDeletionError       a sync would delete more than the allowed share
    │   └── ParseError              a document could not be extracted; carries its status
    ├── StoreError                  the store failed; never an empty result
    │   ├── StoreBusyError          another writer holds the lock (retryable)
    │   └── SchemaError             a kb written by a newer or unknown schema
    ├── ProviderError               a model provider failed
    │   ├── TransientProviderError  may succeed when tried again
    │   ├── EmbeddingError          wrong count, dimension, order, or a value that is not finite
    │   ├── RerankError             raised only when reranking is required
    │   └── GenerationError         a generator failed
    ├── ConnectorOperationalError   a system behind a connector failed; never an empty result
    └── InvalidRunError             an evaluation that must not be believed

What, where, and a ``hint:`` with the next step. ``retryable`` is a property of the type.
"""

from __future__ import annotations

from typing import ClassVar


class SeamlineError(Exception):
    """Root of the tree. ``hint`` is the next thing to do; ``exit_code`` is the command line's."""

    code: ClassVar[str] = "error"
    retryable: ClassVar[bool] = False
    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        """Keep the message and the hint apart, so that each surface can lay them out."""
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return self.message if self.hint is None else f"{self.message}\nhint: {self.hint}"


class UsageError(SeamlineError):
    """The call itself is wrong."""

    code = "usage"
    exit_code = 2


class QueryError(UsageError):
    """An empty, oversized or malformed question, or options that contradict each other."""

    code = "query"


class NotAllowedError(UsageError):
    """Only the owner may change a knowledge base; the same words whatever it holds."""

    code = "not_allowed"


class SettingsError(UsageError):
    """An unknown setting, or a value outside its bounds."""

    code = "settings"


class NotFoundError(UsageError):
    """A kb, document or chunk that does not exist. What you may not see is not found either."""

    code = "not_found"


class UnavailableError(SeamlineError):
    """A part that this installation or this kb does not have."""

    code = "unavailable"


class MissingExtraError(UnavailableError):
    """A package is not installed; the hint is the install command."""

    code = "missing_extra"


class ModelMissingError(UnavailableError):
    """Model weights are not on this machine."""

    code = "model_missing"


class ModeUnavailableError(UnavailableError):
    """A retrieval mode that the kb was not indexed for, or whose part is not configured."""

    code = "mode_unavailable"


class IntegrityError(SeamlineError):
    """Evidence would be wrong; nothing was changed."""

    code = "integrity"


class SpaceMismatchError(IntegrityError):
    """The kb was embedded in another space than the one configured."""

    code = "space_mismatch"


class CalibrationError(IntegrityError):
    """Calibrated settings that belong to another space or reranker, or that cannot be read."""

    code = "calibration"


class VersionConflictError(IntegrityError):
    """The same version of a document came with other bytes."""

    code = "version_conflict"


class IdCollisionError(IntegrityError):
    """Two sources claim one document id; both are named."""

    code = "id_collision"


class ArtifactError(IntegrityError):
    """An artifact that is damaged, or whose chunks do not match its documents."""

    code = "artifact"


class StoreCorruptError(IntegrityError):
    """A stored index does not pass its own checks."""

    code = "store_corrupt"


class WeightsMismatchError(IntegrityError):
    """Model weights with an unexpected hash."""

    code = "weights_mismatch"


class IngestError(SeamlineError):
    """A source or a document could not be read."""

    code = "ingest"


class TransientIngestError(IngestError):
    """A file that cannot be read now, but may be at the next sync."""

    code = "ingest_transient"
    retryable = True


class ListingError(IngestError):
    """A listing is incomplete, so nothing may be removed."""

    code = "listing"
    retryable = True


class MassDeletionError(IngestError):
    """A sync would delete more than the allowed share of the kb."""

    code = "mass_deletion"


class ParseError(IngestError):
    """A document could not be extracted. ``status`` is its :class:`~seamline.types.ParseStatus`."""

    code = "parse"

    def __init__(self, message: str, *, status: str, hint: str | None = None) -> None:
        """Carry the status that ``seamline status`` will show."""
        super().__init__(message, hint=hint)
        self.status = status


class StoreError(SeamlineError):
    """The store failed; never an empty result."""

    code = "store"


class StoreBusyError(StoreError):
    """Another writer holds the lock; its process id is in the message."""

    code = "store_busy"
    retryable = True


class SchemaError(StoreError):
    """A kb written by a newer or an unknown schema; it is left as it is."""

    code = "schema"


class ProviderError(SeamlineError):
    """A model provider failed, and will fail again in the same way."""

    code = "provider"


class TransientProviderError(ProviderError):
    """A provider failed in a way that may pass: a timeout, a 429, a 5xx."""

    code = "provider_transient"
    retryable = True


class EmbeddingError(ProviderError):
    """Vectors of a wrong count, dimension or order, or with a value that is not finite."""

    code = "embedding"


class RerankError(ProviderError):
    """A reranker failed, or is required and is not configured."""

    code = "rerank"


class GenerationError(ProviderError):
    """A generator failed."""

    code = "generation"


class ConnectorOperationalError(SeamlineError):
    """A system behind a connector failed, or answered with what is no ranking; never an empty result."""

    code = "connector_operational"


class InvalidRunError(SeamlineError):
    """An evaluation that must not be believed."""

    code = "invalid_run"
    exit_code = 3
