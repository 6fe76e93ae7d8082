import math

import pytest
import torch

from lgmgc.lm.attention import Packing, UnsupportedAttention, attend

HEADS, KEY_HEADS, SIZE = 4, 2, 8


def states(prefix: int, places: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    torch.manual_seed(prefix + places)
    return (
        torch.randn(1, HEADS, places, SIZE),
        torch.randn(1, KEY_HEADS, prefix + places, SIZE),
        torch.randn(1, KEY_HEADS, prefix + places, SIZE),
    )


def by_definition(
    states: tuple[torch.Tensor, torch.Tensor, torch.Tensor],
    lengths: tuple[int, ...],
    prefix: int,
    reach: int,
    scale: float,
) -> torch.Tensor:
    """One query at a time: softmax over the keys of ρ and of its own window up to itself."""
    query, key, value = (each[0].double() for each in states)
    out = torch.zeros(query.shape[1], HEADS, SIZE, dtype=torch.float64)
    start = 0
    for length in lengths:
        for k in range(length):
            seen = [*range(prefix), *range(prefix + start, prefix + start + k + 1)][-reach:]
            for head in range(HEADS):
                group = head // (HEADS // KEY_HEADS)
                weights = (key[group, seen] @ query[head, start + k] * scale).softmax(0)
                out[start + k, head] = weights @ value[group, seen]
        start += length
    return out


@pytest.mark.parametrize("lengths", [(7,), (3, 5, 1), (1, 1), (4, 0, 2)])
@pytest.mark.parametrize("prefix", [0, 1, 5])
@pytest.mark.parametrize("window", [None, 1, 3, 100])
def test_every_query_sees_the_prefix_and_its_own_window(
    lengths: tuple[int, ...], prefix: int, window: int | None
) -> None:
    places = sum(lengths) + 3  # the last three belong to no window
    given = states(prefix, places)
    out, weights = attend(
        torch.nn.Identity(), *given, None, packing=Packing(lengths, prefix), sliding_window=window
    )
    assert weights is None
    assert out.shape == (1, places, HEADS, SIZE)
    expected = by_definition(given, lengths, prefix, window or 10**6, 1 / math.sqrt(SIZE))
    torch.testing.assert_close(out[0].double(), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("lengths", [(7,), (0, 3), (300, 1, 129), (128, 256)])
@pytest.mark.parametrize("prefix", [0, 5])
@pytest.mark.parametrize("window", [None, 1, 100, 200])
def test_bf16_on_the_cpu_sees_the_same(
    lengths: tuple[int, ...], prefix: int, window: int | None
) -> None:
    query, key, value = (each.bfloat16() for each in states(prefix, sum(lengths) + 3))
    out, _ = attend(
        torch.nn.Identity(),
        query,
        key,
        value,
        None,
        packing=Packing(lengths, prefix),
        sliding_window=window,
    )
    expected = by_definition(
        (query, key, value), lengths, prefix, window or 10**6, 1 / math.sqrt(SIZE)
    )
    # bf16 has 8 bits: products up to 8 are held to 1/32, and so are weights to some per cent.
    torch.testing.assert_close(out[0].double(), expected, rtol=0.05, atol=0.05)


def test_scaling_is_the_models_own() -> None:
    given = states(0, 6)
    out, _ = attend(torch.nn.Identity(), *given, None, packing=Packing((6,)), scaling=0.9)
    torch.testing.assert_close(
        out[0].double(), by_definition(given, (6,), 0, 10**6, 0.9), rtol=1e-5, atol=1e-5
    )


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_window_is_the_same_bits_whatever_shares_its_row(dtype: torch.dtype) -> None:
    query, key, value = (each.to(dtype) for each in states(2, 30))
    out, _ = attend(torch.nn.Identity(), query, key, value, None, packing=Packing((11, 12, 7), 2))
    own = [0, 1, *range(13, 25)]
    alone, _ = attend(
        torch.nn.Identity(),
        query[:, :, 11:23],
        key[:, :, own],
        value[:, :, own],
        None,
        packing=Packing((12,), 2),
    )
    assert torch.equal(out[:, 11:23], alone)


def test_masks_are_made_once_a_length() -> None:
    packing = Packing((3, 3, 4), prefix=2)
    masks = [packing.mask(2, length, 100, torch.device("cpu")) for length in packing.lengths]
    assert masks[0] is masks[1]
    assert masks[0] is not None
    assert masks[0].tolist() == [
        [True, True, True, False, False],
        [True, True, True, True, False],
        [True, True, True, True, True],
    ]
    assert len(packing.masks) == 2


@pytest.mark.parametrize("name", ["softcap", "s_aux", "position_bias"])
def test_what_it_does_not_do_is_refused(name: str) -> None:
    with pytest.raises(UnsupportedAttention, match=name):
        attend(
            torch.nn.Identity(),
            *states(0, 3),
            None,
            packing=Packing((3,)),
            **{name: 30.0},  # type: ignore[arg-type]
        )


def test_no_packing_or_a_mask_is_refused() -> None:
    with pytest.raises(UnsupportedAttention):
        attend(torch.nn.Identity(), *states(0, 3), None)
    with pytest.raises(UnsupportedAttention):
        attend(torch.nn.Identity(), *states(0, 3), torch.ones(3, 3), packing=Packing((3,)))
