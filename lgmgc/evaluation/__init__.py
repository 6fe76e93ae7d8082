"""Judging chunkers: measures, benchmarks, experiments."""
