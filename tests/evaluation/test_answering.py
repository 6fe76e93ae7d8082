from pathlib import Path

import pytest

from lgmgc.document import Document
from lgmgc.evaluation.answering import CLOSED_BOOK, MOST, SYSTEM, answer_all
from lgmgc.evaluation.benchmark import Benchmark, Question
from lgmgc.evaluation.experiment import Context
from lgmgc.evaluation.searching import Found
from tests.evaluation.made import TalkingWriter, chunk, remembered_writer, tree

DOCUMENT = Document("d.txt", "One one. Two two. Six six.")
OTHER = Document("e.txt", "Elsewhere.")
QUESTIONS = (Question("1", "d.txt", "Who?"), Question("2", "e.txt", "Why?"))
BENCHMARK = Benchmark("own", "t", (DOCUMENT, OTHER), QUESTIONS)
FENCE = "====="


def answer(
    folder: Path, writer: TalkingWriter, context: Context, found: list[list[Found]], k: int = 2
) -> list[str]:
    return answer_all(BENCHMARK, found, remembered_writer(folder, writer), context, k)


def parents(*places: int) -> list[Found]:
    made = tree(DOCUMENT, 9, 18, 26).parents
    return [Found(made[place], place, 0.5, 0) for place in places]


def test_closed_book_a_reader_is_given_nothing(tmp_path: Path) -> None:
    writer = TalkingWriter(" Ada \n")
    assert answer(tmp_path, writer, "closed", [parents(0), []]) == ["Ada", "Ada"]
    assert writer.prompts == [
        (CLOSED_BOOK, "Question: Who?\nAnswer:"),
        (CLOSED_BOOK, "Question: Why?\nAnswer:"),
    ]


def test_the_best_parents_in_their_order(tmp_path: Path) -> None:
    writer = TalkingWriter()
    assert answer(tmp_path, writer, "parents", [parents(2, 0, 1), parents(1)]) == ["yes", "yes"]
    assert writer.prompts[0] == (
        SYSTEM,
        f'[1] "d.txt":\n{FENCE}\nSix six.\n{FENCE}\n\n[2] "d.txt":\n{FENCE}\nOne one.\n{FENCE}\n\n'
        "Question: Who?\nAnswer:",
    )
    assert writer.prompts[1] == (
        SYSTEM, f'[1] "d.txt":\n{FENCE}\nTwo two.\n{FENCE}\n\nQuestion: Why?\nAnswer:',
    )  # fmt: skip


def test_a_parent_is_given_as_its_window(tmp_path: Path) -> None:
    writer = TalkingWriter()
    found = [Found(chunk(DOCUMENT, 9, 18, window=(0, 18)), 1, 0.5, 0)]
    answer(tmp_path, writer, "parents", [found, []])
    assert f"{FENCE}\nOne one. Two two.\n{FENCE}" in writer.prompts[0][1]


def test_nothing_found_is_as_closed_book(tmp_path: Path) -> None:
    writer = TalkingWriter()
    answer(tmp_path, writer, "parents", [[], []])
    assert writer.prompts[0] == (CLOSED_BOOK, "Question: Who?\nAnswer:")


def test_parents_that_do_not_fit_are_left_out(tmp_path: Path) -> None:
    one = f'[1] "d.txt":\n{FENCE}\nSix six.\n{FENCE}\n\nQuestion: Who?\nAnswer:'
    writer = TalkingWriter(context=len(SYSTEM) + len(one) + MOST)
    answer(tmp_path, writer, "parents", [parents(2, 0, 1), []], k=3)
    assert writer.prompts[0] == (SYSTEM, one)


@pytest.mark.parametrize(
    ("room", "given", "sign"),
    [(0, "One one. Two two. Six six.", ""), (-1, "One one.", ", cut off")],
)
def test_the_whole_document_as_far_as_it_fits(
    tmp_path: Path, room: int, given: str, sign: str
) -> None:
    whole = f'[1] "d.txt":\n{FENCE}\n{DOCUMENT.text}\n{FENCE}\n\nQuestion: Who?\nAnswer:'
    writer = TalkingWriter(context=len(SYSTEM) + len(whole) + MOST + room)
    answer(tmp_path, writer, "whole", [[], []])
    assert writer.prompts[0] == (
        SYSTEM,
        f'[1] "d.txt"{sign}:\n{FENCE}\n{given}\n{FENCE}\n\nQuestion: Who?\nAnswer:',
    )
    assert "Elsewhere." in writer.prompts[1][1]
    assert "One" not in writer.prompts[1][1]
