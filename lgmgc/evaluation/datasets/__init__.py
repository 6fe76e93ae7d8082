"""Loaders of benchmarks: the files as they are published, to `lgmgc.evaluation.benchmark`."""

from lgmgc.evaluation.datasets.load import BENCHMARKS, Known, load_benchmark

__all__ = ["BENCHMARKS", "Known", "load_benchmark"]
