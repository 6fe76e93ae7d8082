"""Sentences and sizes: spans over unchanged text."""
