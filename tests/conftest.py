"""Settings for every test; the network is closed by pytest-socket (see pyproject.toml)."""

import os

# As the command line sets it.
os.environ["HF_HUB_OFFLINE"] = "1"
