"""Documents and pages that tests of the report look at."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lgmgc.chunkers.chunker import Chunker, Settings
from lgmgc.chunkers.options import Options
from lgmgc.document import Document, Tree
from lgmgc.report.cutting import at_random, named
from lgmgc.report.layout import Segmented
from lgmgc.report.page import report_page
from lgmgc.report.trace import Scores, traced
from tests.fake import SCORES, FakeScorer

EMMA = Path(__file__).parents[3] / "shared/data/gutenqa_emma/emma_from_paragraphs.txt"

HOSTILE = (
    "<script>document.title = 'owned'</script> A first one. <img src=x onerror=\"alert(1)\">\n\n"
    "</style></div></main></body></html> A second & a third &lt;b&gt; one. <!-- ]]> --> "
    "{{ 7 * 7 }} {% raw %} Four.\u2028Five. \u202eHidden\u202c. \u200fשלום עולם. "
    "</textarea></title></template><svg onload=alert(1)><base href='//evil'>\r\nA last one.\r"
    "\"quotes\" 'and' `ticks`. <link rel=stylesheet href=//evil/x.css> <style>*{color:red}</style>."
) * 4


def book(words: int) -> str:
    """Paragraphs of prose, none like another."""
    sentences = (
        f"In the year {k} the harbour of Halvery took {k * 7 % 93} boats, and nobody counted them."
        for k in range(words // 15)
    )
    return "".join(f"{s}{chr(10) * 2 if k % 6 == 5 else ' '}" for k, s in enumerate(sentences))


def cut(
    text: str | Document, method: str = "lgmgc", theta: int = 60, **options: object
) -> tuple[Tree, Scores | None]:
    """By a model that draws its scores."""
    settings = Settings(method, theta, options=Options(**options))  # type: ignore[arg-type]
    watched, trace = traced(settings.plan)
    tree = Chunker(settings, FakeScorer(SCORES["random"]), method=watched).chunk(text)
    return tree, trace.scores(tree, first=watched.long)


def segmented(tree: Tree, name: str = "lgmgc") -> Segmented:
    return Segmented(name, "a method", tree, [parent.words for parent in tree.parents])


def page(text: str | Document, theta: int = 60, beside: Sequence[str] = ()) -> str:
    """With a quiz, and other methods beside."""
    from lgmgc.chunkers.load import LoadedModels

    tree, scores = cut(text, theta=theta)
    settings = Settings("lgmgc", theta)
    others = [segmented(cut(text, name, theta)[0], name) for name in (*beside, "recursive")]
    quiz = [segmented(tree), others[-1], at_random(tree, settings, LoadedModels())]
    first = named(tree, "lgmgc", settings, LoadedModels())
    return report_page(
        [first, *others[:-1]],
        scores,
        theta=theta,
        unit="words",
        parts=(2, 4),
        quiz=quiz,
        by="a fake",
    )
