"""`lgmgc eval`: experiments, and two of them side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from lgmgc.chunkers.load import ModelChoice
from lgmgc.cli.chunking import Cache
from lgmgc.cli.messages import tell
from lgmgc.cli.voice import spoken

eval_app = typer.Typer(
    name="eval", no_args_is_help=True, help="Judge chunkers on benchmarks, with local models."
)


@eval_app.command("list")
@spoken
def list_benchmarks() -> None:
    """Name the benchmarks that can be loaded, and the files that each expects.

    Example: lgmgc eval list
    """
    from lgmgc.evaluation.datasets import BENCHMARKS

    for name, known in BENCHMARKS.items():
        typer.echo(f"{name}: {known.description}\n    {known.layout}")


@eval_app.command()
@spoken
def run(
    file: Annotated[
        Path, typer.Argument(metavar="FILE.toml", help="The experiment.", show_default=False)
    ],
    data: Annotated[
        Path,
        typer.Option(metavar="DIR", help="The folder that the benchmarks' paths begin in."),
    ] = Path(),
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Where tables and plots go; left out: results/NAME.",
            show_default=False,
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATTERN",
            help="Run the methods whose labels match, such as 'lg*'; may be repeated.",
            show_default=False,
        ),
    ] = None,
    answers: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.db",
            help="What models answered before; left out: evaluation.db in the models' cache.",
            show_default=False,
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|DIR|FILE.gguf",
            help="The language model; left out: the experiment's.",
            show_default=False,
        ),
    ] = None,
    embedder: Annotated[
        str | None,
        typer.Option(metavar="NAME|DIR", help="Left out: the experiment's.", show_default=False),
    ] = None,
    device: Annotated[
        Literal["auto", "cuda", "cpu"], typer.Option(help="Where models run.")
    ] = "auto",
    precision: Annotated[
        Literal["auto", "int8", "int4", "bf16", "fp32"],
        typer.Option(help="How the language model's weights are held."),
    ] = "auto",
    cache: Cache = None,
) -> None:
    """Run an experiment, and write its tables, plots and per-question results.

    What models answered is kept: a run that was interrupted goes on when it is started again, and a
    method that is added costs only that method.

    Example: lgmgc eval run scripts/experiments/ablation.toml --data ../shared/data
    """
    from lgmgc.evaluation.answer_cache import AnswerCache
    from lgmgc.evaluation.experiment import load_experiment, select
    from lgmgc.evaluation.models import ExperimentModels
    from lgmgc.evaluation.run import load_all
    from lgmgc.evaluation.run import run as run_experiment
    from lgmgc.evaluation.writing import check_folder, write
    from lgmgc.lm.store import default_cache

    experiment = select(load_experiment(file), only or ())
    benchmarks = load_all(experiment, data)
    folder = out or Path("results") / experiment.name
    check_folder(folder)
    choice = ModelChoice(
        model or experiment.model,
        embedder or experiment.embedder,
        device=device,
        precision=precision,
        cache=cache,
    )
    with AnswerCache(answers or (cache or default_cache()) / "evaluation.db") as answer_cache:
        models = ExperimentModels(choice, answer_cache)
        results = run_experiment(experiment, benchmarks, models, tell)
    write(results, folder)
    typer.echo((folder / "results.md").read_text(encoding="utf-8"))


@eval_app.command()
@spoken
def compare(
    first: Annotated[str, typer.Argument(metavar="DIR|DIR:LABEL", show_default=False)],
    second: Annotated[str, typer.Argument(metavar="DIR|DIR:LABEL", show_default=False)],
) -> None:
    """Put two runs, or two rows, side by side: paired differences with intervals.

    Example: lgmgc eval compare results/before results/after
    """
    from lgmgc.evaluation.compare import compare_results

    typer.echo(compare_results(first, second))
