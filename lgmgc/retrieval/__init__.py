"""Find what was chunked: pieces are matched, parents are handed on.

>>> from lgmgc.retrieval import Index
>>> with Index.open("notes.db", embedder, create=True) as index:  # doctest: +SKIP
...     index.add(chunker.chunk_many(documents), configuration="lgmgc, θ = 300 words")
...     for hit in index.search("Who mended the harbour clock?", k=5):
...         print(hit.rank, hit.score, hit.document, hit.parent.text)
"""

from lgmgc.retrieval.embedding import TextEmbedder
from lgmgc.retrieval.hits import Added, Counts, Hit, Passage
from lgmgc.retrieval.index import Index

__all__ = ["Added", "Counts", "Hit", "Index", "Passage", "TextEmbedder"]
