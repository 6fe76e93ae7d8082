"""Adapters: our chunkers and indexes as parts of other frameworks, each imported by itself."""
