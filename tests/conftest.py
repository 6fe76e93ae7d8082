"""Settings for every test; the network is closed by pytest-socket (see pyproject.toml)."""

import os

# As the command line sets them, before torch is imported.
os.environ.setdefault("GOMP_SPINCOUNT", "10000")
os.environ["HF_HUB_OFFLINE"] = "1"
