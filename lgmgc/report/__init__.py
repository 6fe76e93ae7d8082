"""One self-contained HTML page: a document's chunks with their scores, or the hits of a search."""
