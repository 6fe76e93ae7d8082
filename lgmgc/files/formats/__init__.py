"""One file for each kind of source: bytes in, documents out."""
