import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lgmgc.errors import ModelError
from lgmgc.retrieval.embedding import pack, unit, unpack


def test_int8_by_hand() -> None:
    # 127/127 = 1; 0.5 · 127 = 63.5, to the even 64; −0.25 · 127 = −31.75, to −32.
    rows = np.array([[1.0, 0.5, -0.25], [0, 0, 0], [0, 0, -254]], np.float32)
    packed = pack(rows, "int8")
    assert packed.rows == np.array([127, 64, -32, 0, 0, 0, 0, 0, -127], np.int8).tobytes()
    assert np.frombuffer(packed.scales, "<f4").tolist() == pytest.approx([1 / 127, 0, 2])
    assert len(packed.rows) * 4 == len(pack(rows, "float32").rows)


@given(st.integers(1, 400), st.integers(1, 20), st.integers(0, 2**32 - 1))
def test_int8_is_off_by_a_bounded_amount(dimensions: int, count: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    rows = unit(random.standard_cauchy((count, dimensions)), count, dimensions, "")
    query = unit(random.normal(size=(1, dimensions)), 1, dimensions, "")[0]
    stored, scales = unpack(pack(rows, "int8"), "int8", dimensions)
    error = np.abs(stored.astype(float) @ query * scales - rows.astype(float) @ query)
    bound = np.abs(rows).max(axis=1) / 254 * np.abs(query).sum()
    assert (error <= bound * 1.0001 + 1e-6).all()


@given(st.integers(0, 5), st.integers(1, 9))
def test_float32_comes_back(count: int, dimensions: int) -> None:
    rows = np.random.default_rng(count).normal(size=(count, dimensions)).astype(np.float32)
    stored, scales = unpack(pack(rows, "float32"), "float32", dimensions)
    assert stored.tolist() == rows.tolist()
    assert len(scales) == 0


@pytest.mark.parametrize("bad", [[[1.0, float("nan")]], [[1.0, float("inf")]], [[1.0]], [1.0, 0.0]])
def test_rows_of_no_use_are_refused(bad: list[list[float]]) -> None:
    with pytest.raises(ModelError, match=r"^e gave rows of shape"):
        unit(np.array(bad), 1, 2, "e")
