from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from lgmgc.document import Document, Heading
from lgmgc.files.normalize import normalized


def text_of(text: str) -> str:
    return normalized(Document("a", text)).text


def pages(*texts: str) -> Document:
    starts = [sum(len(text) + 1 for text in texts[:k]) for k in range(len(texts))]
    return Document("a", "\n".join(texts), pages=tuple(starts))


def page_texts(document: Document) -> list[str]:
    ends = [*document.pages[1:], len(document.text)]
    return [document.text[a:b] for a, b in zip(document.pages, ends, strict=True)]


def test_signs() -> None:
    assert text_of("ﬀ ﬁ ﬂ ﬃ ﬄ ﬅ ﬆ") == "ff fi fl ffi ffl st st"
    assert text_of("co\u00adop co\u00ad\r\nop co\u00ad\nop") == "coop coop coop"
    assert text_of("a\r\nb\rc\n\r\n") == "a\nb\rc\n\n"
    assert text_of("½ ① a\u0301 Å \u00a0\x02\ufeff") == "½ ① a\u0301 Å \u00a0\x02\ufeff"


def test_a_hyphen_of_a_pdf() -> None:
    assert normalized(pages("infor\x02mation")).text == "information"


def test_lines_that_come_back() -> None:
    document = pages(
        "Book 1\r\nOne.\r\n- 1 -", "\r\nBook 2\nTwo.\n- 2 -", "Book 3\n- 3 -", "Four.\n- 4 -"
    )
    done = normalized(document)
    assert page_texts(done) == ["One.\n", "\nTwo.\n", "\n", "Four."]
    assert normalized(done) == done


def test_half_of_the_pages_or_three_of_them_are_too_few() -> None:
    for document in (
        pages("Top\na\nFoot", "Top\nb\nFoot", "c", "d"),
        pages("Top\na", "Top\nb", "Top\nc"),
        Document("a", "Top\na\n" * 9),
    ):
        assert normalized(document).text == document.text


def test_page_numbers_and_pages_of_one_line() -> None:
    assert page_texts(normalized(pages("a\n1", "b\n2", "c\n3", "d\n4"))) == [
        "a\n",
        "b\n",
        "c\n",
        "d",
    ]
    assert normalized(pages("Top", "Top", "Top", "", "Top")).text == "\n"


def test_a_soft_hyphen_before_a_foot_that_comes_back() -> None:
    document = pages(*(f"{word}\u00ad\r\nFoot" for word in "abcd"))
    assert page_texts(normalized(document)) == ["a\n", "b\n", "c\n", "d"]


@given(st.text(st.sampled_from("a\u00ad\ufb03\r\n "), max_size=60))
def test_offsets_move_with_the_text(text: str) -> None:
    starts = [0, *(end.end() for end in re.finditer(r"\r\n?|\n", text))]
    headings = tuple(Heading(start, 1, "\ufb01\u00ad") for start in starts)
    done = normalized(Document("a", text, {"k": 1}, headings=headings))
    plain = re.sub("\u00ad[\r\n]?", "", text.replace("\r\n", "\n")).replace("\ufb03", "ffi")
    assert done.text == plain
    assert [heading.start for heading in done.headings] == [
        len(text_of(text[:start])) for start in starts
    ]
    assert {heading.title for heading in done.headings} == {"fi"}
    assert done.metadata == {"k": 1}
