"""Chunking methods, one file each."""
