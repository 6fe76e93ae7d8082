"""Language models: catalogue and store, loading, boundary scores, scheduling."""

import os

# Read when torch is imported, which is later: torch's threads (GNU OpenMP on Linux) soon sleep
# while they wait for each other, instead of spinning against whatever else the machine runs. On two
# cores with one other busy process that made the small model several times faster.
os.environ.setdefault("GOMP_SPINCOUNT", "10000")
