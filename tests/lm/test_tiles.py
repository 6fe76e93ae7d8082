import pytest
import torch
from transformers import LlamaConfig
from transformers.models.llama.modeling_llama import LlamaMLP

from lgmgc.lm.tiles import TILE, TiledLinear, tile


class Block(torch.nn.Module):
    def __init__(self, hidden: int, dtype: torch.dtype) -> None:
        super().__init__()
        torch.manual_seed(3)
        self.projection = torch.nn.Linear(hidden, hidden // 2, bias=True)
        self.mlp = LlamaMLP(LlamaConfig(hidden_size=hidden, intermediate_size=3 * hidden))
        self.norm = torch.nn.LayerNorm(hidden)
        self.to(dtype)


def rows_of(hidden: int, dtype: torch.dtype, tiles: int) -> torch.Tensor:
    torch.manual_seed(4)
    return torch.randn(tiles * TILE, hidden).to(dtype)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("hidden", [64, 576])
@pytest.mark.parametrize("part", ["projection", "mlp"])
@torch.inference_mode()
def test_a_row_depends_on_itself_alone(part: str, hidden: int, dtype: torch.dtype) -> None:
    block = Block(hidden, dtype)
    rows = rows_of(hidden, dtype, 4)
    plain = getattr(block, part)(rows)
    tile(block)
    layer = getattr(block, part)
    whole = layer(rows[None])[0]
    assert whole.dtype == dtype
    tolerance = 1e-4 if dtype == torch.float32 else 0.05
    torch.testing.assert_close(whole, plain, rtol=tolerance, atol=tolerance)
    for tiles in (1, 2, 3):
        assert torch.equal(layer(rows[: tiles * TILE]), whole[: tiles * TILE])
    # In another tile, at another place of its tile, with other neighbours.
    order = torch.randperm(len(rows), generator=torch.Generator().manual_seed(5))
    assert torch.equal(layer(rows[order]), whole[order])
    shifted = torch.cat((rows[100:], rows[:100]))
    assert torch.equal(layer(shifted)[:-100], whole[100:])


@torch.inference_mode()
def test_other_than_whole_tiles_are_computed_as_they_are() -> None:
    block = Block(64, torch.float32)
    rows = rows_of(64, torch.float32, 2)[:-1]
    plain = block.projection(rows), block.mlp(rows[:5])
    tile(block)
    assert torch.equal(block.projection(rows), plain[0])
    assert torch.equal(block.mlp(rows[:5]), plain[1])


def test_only_plain_layers_are_changed() -> None:
    class Quantised(torch.nn.Linear):
        pass

    block = Block(64, torch.float32)
    block.add_module("quantised", Quantised(4, 4))
    tile(block)
    assert type(block.projection) is TiledLinear
    assert type(block.get_submodule("quantised")) is Quantised
    assert type(block.norm) is torch.nn.LayerNorm
    # Inside an MLP the layers stay plain, for it is tiled as a whole.
    assert type(block.mlp.up_proj) is torch.nn.Linear


@torch.inference_mode()
def test_the_shape_before_the_last_axis_is_kept() -> None:
    layer = TiledLinear(8, 3)
    assert layer(torch.randn(2, TILE, 8)).shape == (2, TILE, 3)
    assert layer(torch.randn(1, 5, 8)).shape == (1, 5, 3)
