"""LangChain's own tests of retrievers, on ours."""

from __future__ import annotations

import asyncio
import importlib.util
from importlib.metadata import distribution
from typing import Any

import pytest

from lgmgc import Index
from lgmgc.integrations.langchain import LGMGCRetriever


def _standard() -> Any:
    """The one module of langchain-tests that is needed; its package asks for plugins of pytest."""
    path = distribution("langchain-tests").locate_file(
        "langchain_tests/integration_tests/retrievers.py"
    )
    spec = importlib.util.spec_from_file_location("standard_retrievers", str(path))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.RetrieversIntegrationTests


class TestRetriever(_standard()):  # type: ignore[misc]
    @pytest.fixture(autouse=True)
    def _of(self, index: Index) -> None:
        self.index = index

    @property
    def retriever_constructor(self) -> type[LGMGCRetriever]:
        return LGMGCRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, object]:
        return {"index": self.index}

    @property
    def retriever_query_example(self) -> str:
        return "boat sail rope"

    def test_ainvoke_returns_documents(self, retriever: LGMGCRetriever) -> None:
        asyncio.run(super().test_ainvoke_returns_documents(retriever))
