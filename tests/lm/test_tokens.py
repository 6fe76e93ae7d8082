import re
from collections.abc import Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from transformers import PreTrainedTokenizerFast

from lgmgc.lm.encoder import FastEncoder
from lgmgc.lm.tokens import DocumentTokens, measure_in_window
from lgmgc.lm.windows import TokenWindow
from tests.lm.conftest import SENTENCES


def characters(texts: Sequence[str]) -> list[list[int]]:
    return [list(map(ord, text)) for text in texts]


def words(texts: Sequence[str]) -> list[list[int]]:
    """One id a word, of its length; 100 more where white space stands before it."""
    return [
        [len(match[2]) + 100 * bool(match[1]) for match in re.finditer(r"(\s*)(\S+)", text)]
        for text in texts
    ]


def plain(window: TokenWindow) -> tuple[list[int], list[int]]:
    return window.ids.tolist(), window.ends.tolist()


#               0         1              2              3        4
BY_HAND = ["  \n ", "One two.  ", "\t\n", "Three, four. ", "Five!\n"]


def test_windows_by_hand() -> None:
    tokens = DocumentTokens(BY_HAND, words)
    assert len(tokens) == 5
    # Nothing visible before the end of 0; 2 adds nothing to 1.
    assert plain(tokens.window(0, 5)) == ([3, 104, 106, 105, 105], [0, 2, 2, 4, 5])
    assert plain(tokens.window(1, 2)) == ([3, 104], [2])
    # The first visible sentence of a window is read as at the beginning of a text.
    assert plain(tokens.window(3, 5)) == ([6, 105, 105], [2, 3])
    assert plain(tokens.window(2, 4)) == ([6, 105], [0, 2])


def test_windows_of_white_space_hold_no_tokens() -> None:
    tokens = DocumentTokens(BY_HAND, words)
    assert plain(tokens.window(0, 1)) == ([], [0])
    assert plain(DocumentTokens([" ", "\n"], words).window(0, 2)) == ([], [0, 0])
    assert plain(DocumentTokens([], words).window(0, 0)) == ([], [])


def test_no_token_reaches_over_an_end() -> None:
    tokens = DocumentTokens(["a.\n\n", "b. ", "c."], characters)
    ids, ends = plain(tokens.window(0, 3))
    assert "".join(map(chr, ids)) == "a.\n\nb. c."
    assert ["".join(map(chr, ids[:end])) for end in ends] == ["a.", "a.\n\nb.", "a.\n\nb. c."]


@given(st.lists(st.sampled_from(["a. ", "bc!\n", " ", "\n\n", "d\t", "  e f.\t"]), max_size=9))
def test_ids_up_to_an_end_are_those_of_the_text_that_ends_there(sentences: list[str]) -> None:
    for encode in (characters, words):
        tokens = DocumentTokens(sentences, encode)
        for start in range(len(sentences)):
            for stop in range(start + 1, len(sentences) + 1):
                window = tokens.window(start, stop)
                assert len(window.ends) == stop - start
                assert window.ids.dtype == np.int32
                for k, end in enumerate(window.ends.tolist(), start=start + 1):
                    [prefix] = encode(["".join(sentences[start:k]).strip()])
                    assert window.ids[:end].tolist() == prefix


def test_a_real_tokenizer_agrees_piece_by_piece(tokenizer: PreTrainedTokenizerFast) -> None:
    encode = FastEncoder(tokenizer.backend_tokenizer)
    sentences = [*SENTENCES, " ", *SENTENCES]
    tokens = DocumentTokens(sentences, encode)
    for start, stop in ((0, 15), (3, 9), (6, 7), (7, 9)):
        window = tokens.window(start, stop)
        for k, end in enumerate(window.ends.tolist(), start=start + 1):
            # The byte-level rule cuts between a visible character and white space, so that here
            # the pieces and the whole have the same ids.
            assert window.ids[:end].tolist() == encode(["".join(sentences[start:k]).strip()])[0]


def test_many_sentences_are_tokenised_in_bounded_portions() -> None:
    portions: list[int] = []

    def counting(texts: Sequence[str]) -> list[list[int]]:
        portions.append(len(texts))
        return characters(texts)

    tokens = DocumentTokens(["a. "] * 10_000, counting)
    assert sum(portions) == 10_000
    assert max(portions) <= 4_096
    assert len(tokens) == 2 + 3 * 9_999
    # The white space between two sentences is not lost where a portion ends.
    assert tokens.window(4_095, 4_097).ids.tolist() == list(map(ord, "a. a."))


def merging(texts: Sequence[str]) -> list[list[int]]:
    """Characters, but a full stop with the line breaks behind it is one token.

    So is white space at a text's end, and "go" where no space stands before it.
    """
    patterns = (r"\.\n+", r"\s+$", r"(?<!\s)go")
    for pattern in patterns:
        texts = [re.sub(pattern, "¶", text) for text in texts]
    return characters(texts)


def test_what_a_sentence_adds_to_a_window() -> None:
    measure = measure_in_window(merging)
    # "ab." | "\n\nc" | "d." | " go" rather than its "go" | nothing | nothing
    assert measure(["ab.\n\n", "c", "d. ", "go", "\n", ""]).tolist() == [3, 3, 2, 3, 0, 0]
    assert measure(["go\n"]).tolist() == [1]
    assert measure(["  go"]).tolist() == [4]


@given(
    st.lists(
        st.sampled_from(["a.\n\n", "b. ", "c.\n", " ", "\n\n", "d e.\r\n", "go. ", "  go\n"]),
        max_size=9,
    )
)
def test_a_window_is_at_most_what_its_sentences_add(sentences: list[str]) -> None:
    for encode in (characters, words, merging):
        sizes = measure_in_window(encode)(sentences)
        for start in range(len(sentences)):
            window = DocumentTokens(sentences, encode).window(start, len(sentences))
            assert len(window.ids) <= sizes[start:].sum()
