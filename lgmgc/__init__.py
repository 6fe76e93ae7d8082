"""LGMGC: chunk long documents where a local language model says that the text ends.

>>> from lgmgc import LGMGC
>>> chunker = LGMGC.from_pretrained("smollm2-135m-instruct", theta=300)  # doctest: +SKIP
>>> tree = chunker.chunk(text)  # doctest: +SKIP
"""

from lgmgc.chunkers.chunker import Chunker, Settings
from lgmgc.chunkers.lgmgc import LGMGC
from lgmgc.document import Chunk, Document, Tree
from lgmgc.errors import DocumentError, LgmgcError, ModelError, UsageError

__version__ = "0.1.0"

__all__ = [
    "LGMGC",
    "Chunk",
    "Chunker",
    "Document",
    "DocumentError",
    "LgmgcError",
    "ModelError",
    "Settings",
    "Tree",
    "UsageError",
]
