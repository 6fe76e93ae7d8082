"""Ray Data: documents of a dataset become chunks, cut by processes on all machines of a cluster.

>>> import ray  # doctest: +SKIP
>>> from lgmgc.integrations.ray import chunk_dataset
>>> documents = ray.data.read_parquet("/shared/documents")  # doctest: +SKIP
>>> chunk_dataset(documents).write_parquet("/shared/chunks")  # doctest: +SKIP
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping

from lgmgc.chunkers.chunker import Settings
from lgmgc.chunkers.load import ModelChoice
from lgmgc.document import Document
from lgmgc.errors import UsageError
from lgmgc.files.rows import rows
from lgmgc.integrations.common import FrameworkError

try:
    import pyarrow as pa
    from ray.data import Dataset

    from lgmgc.files import arrow
    from lgmgc.integrations.ray_cluster import Pool, Worker, pool
except ImportError as error:
    raise FrameworkError("Ray Data", "lgmgc[ray]", error) from error

ERROR = "error"
"""The column that says why a document has no chunks; null where it has."""


def chunk_dataset(
    dataset: Dataset,
    *,
    settings: Settings | None = None,
    choice: ModelChoice | None = None,
    text_column: str = "text",
    id_column: str = "id",
    devices: str | None = None,
    batch_size: int = 64,
) -> Dataset:
    """Cut the documents of a dataset, one a row.

    Args:
        dataset: with a column of texts and one of ids; others are left behind.
        settings: what decides the chunks; None for the defaults.
        choice: of the models, which have to be on every machine; None for the default. Its
            ``device`` is not read.
        text_column: which holds the texts.
        id_column: which holds the ids, texts or whole numbers, each another.
        devices: see `lgmgc.integrations.ray_cluster.pool`.
        batch_size: documents that are read together, and done again if their machine goes.

    Returns:
        A row a chunk, with the columns of `lgmgc.files.rows.COLUMNS`, a document's rows in their
        order; and ``error``. A document that cannot be cut has one row: its id, and the error.

    Raises:
        UsageError: the cluster does not have such devices.
    """
    workers = pool(devices)
    return dataset.map_batches(
        _Chunks,
        fn_constructor_args=(
            *(settings or Settings(), choice or ModelChoice()),
            *(workers, (id_column, text_column)),
        ),
        batch_size=batch_size,
        batch_format="pyarrow",
        **workers.options,
    )


class _Chunks(Worker):
    """Batches of documents in, tables of chunks out."""

    def __init__(
        self,
        settings: Settings,
        choice: ModelChoice,
        pool: Pool,
        columns: tuple[str, str],
    ) -> None:
        super().__init__(settings, choice, pool)
        self._columns = columns  # of ids, of texts

    def __call__(self, batch: pa.Table) -> Iterator[pa.Table]:
        """Cut a batch."""
        schema = arrow.schema().append(pa.field(ERROR, pa.string()))
        failures: list[Mapping[str, str | None]] = []

        def failed(document: str | None, why: object) -> None:
            failures.append({"document": document, ERROR: str(why)})

        cut = self.cutter().cut(
            list(_documents(batch, self._columns, failed)),
            lambda document, share: None,
            lambda document, error: failed(document.id, error),
        )
        for table in arrow.tables(json.loads(row) for tree, _ in cut for row in rows(tree)):
            yield table.append_column(schema.field(ERROR), pa.nulls(len(table), pa.string()))
        if failures:
            yield pa.Table.from_pylist(failures, schema)


def _documents(
    batch: pa.Table, columns: tuple[str, str], failed: Callable[[str | None, str], None]
) -> Iterator[Document]:
    for column in columns:
        if batch.schema.get_field_index(column) < 0:
            raise UsageError(
                f"the dataset has no column {column!r}, or several; it has "
                f"{', '.join(batch.column_names)}"
            )
    seen: set[str] = set()
    for key, text in zip(*(batch.column(name).to_pylist() for name in columns), strict=True):
        name = str(key)
        if not isinstance(key, str | int) or isinstance(key, bool) or not name:
            failed(None, "a row has no id, which is a text or a whole number; give it one")
        elif not isinstance(text, str):
            failed(name, f"{name}: has no text; fill it in, or leave the row out")
        elif name in seen:
            failed(name, f"{name}: is the id of a document before it; give it its own")
        else:
            seen.add(name)
            yield Document(name, text)
