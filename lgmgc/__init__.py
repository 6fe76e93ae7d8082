"""LGMGC: chunk long documents where a local language model says that the text ends."""

__version__ = "0.1.0"
