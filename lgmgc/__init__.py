"""LGMGC: chunk long documents where a local language model says that the text ends.

>>> from lgmgc import LGMGC
>>> chunker = LGMGC.from_pretrained("smollm2-135m-instruct", theta=300)  # doctest: +SKIP
>>> tree = chunker.chunk(text)  # doctest: +SKIP
"""

from lgmgc.chunkers.chunker import Chunker, Settings
from lgmgc.chunkers.lgmgc import LGMGC
from lgmgc.chunkers.options import Options
from lgmgc.document import Chunk, Document, Tree
from lgmgc.errors import DocumentError, LgmgcError, ModelError, UsageError
from lgmgc.retrieval.answer import Answer, Answerer
from lgmgc.retrieval.hits import Hit
from lgmgc.retrieval.index import Index

__version__ = "0.1.0"

__all__ = [
    "LGMGC",
    "Answer",
    "Answerer",
    "Chunk",
    "Chunker",
    "Document",
    "DocumentError",
    "Hit",
    "Index",
    "LgmgcError",
    "ModelError",
    "Options",
    "Settings",
    "Tree",
    "UsageError",
]
