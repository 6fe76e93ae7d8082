import pytest
import torch
from transformers import LlamaConfig
from transformers.models.llama.modeling_llama import LlamaMLP

from lgmgc.lm.onednn import lay_out
from lgmgc.lm.tiles import GRAIN, TILE, grain, tile


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
@pytest.mark.parametrize("part", ["projection", "mlp", "norm"])
@pytest.mark.parametrize("laid_out", [True, False])
@torch.inference_mode()
def test_a_row_depends_on_itself_alone(
    laid_out: bool, part: str, hidden: int, dtype: torch.dtype
) -> None:
    block = Block(hidden, dtype)
    rows = rows_of(hidden, dtype, 4)
    plain = getattr(block, part)(rows)
    if laid_out:
        lay_out(block)
    step = grain(block)
    assert step in ((GRAIN, TILE) if laid_out else (TILE,))
    tile(block)
    layer = getattr(block, part)
    whole = layer(rows[None])[0]
    assert whole.dtype == dtype
    tolerance = 1e-4 if dtype == torch.float32 else 0.05
    torch.testing.assert_close(whole, plain, rtol=tolerance, atol=tolerance)
    for size in range(step, len(rows), step):
        assert torch.equal(layer(rows[:size]), whole[:size])
    # In another tile, at another place of its tile, with other neighbours.
    order = torch.randperm(len(rows), generator=torch.Generator().manual_seed(5))
    assert torch.equal(layer(rows[order]), whole[order])
    shifted = torch.cat((rows[100:], rows[:100]))
    assert torch.equal(layer(shifted)[:-100], whole[100:])


def test_short_tiles_only_where_they_change_no_bit() -> None:
    class ChoosingNorm(torch.nn.LayerNorm):
        """As a library that chooses another kernel for few rows."""

        def forward(self, input: torch.Tensor) -> torch.Tensor:
            return input + (len(input) > TILE - GRAIN)

    assert grain(torch.nn.Sequential(ChoosingNorm(8))) == TILE
    assert grain(torch.nn.Sequential(torch.nn.LayerNorm(8), torch.nn.ReLU())) == GRAIN
    assert grain(torch.nn.Sequential(torch.nn.Bilinear(8, 8, 8))) == TILE


@torch.inference_mode()
def test_only_plain_layers_are_changed() -> None:
    class Quantised(torch.nn.Linear):
        pass

    sizes: list[int] = []
    block = Block(64, torch.float32)
    quantised = Quantised(64, 4)
    block.add_module("quantised", quantised)
    for part in (quantised, block.mlp.up_proj):
        part.register_forward_pre_hook(lambda _, inputs: sizes.append(len(inputs[0])))
    tile(block)
    rows = rows_of(64, torch.float32, 2)
    quantised(rows)
    block.mlp(rows)
    assert sizes == [2 * TILE, TILE, TILE]  # an MLP is tiled as a whole


@torch.inference_mode()
def test_the_shape_before_the_last_axis_is_kept() -> None:
    layers = torch.nn.Sequential(torch.nn.Linear(8, 3))
    tile(layers)
    assert layers(torch.randn(2, TILE, 8)).shape == (2, TILE, 3)
    assert layers(torch.randn(1, 5, 8)).shape == (1, 5, 3)
