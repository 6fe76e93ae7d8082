from pathlib import Path

import pytest

from lgmgc.errors import UsageError
from lgmgc.evaluation.experiment import Experiment, Source, load_experiment, select

SCRIPTS = Path(__file__).parents[2] / "scripts" / "experiments"
SOURCE = '[[benchmark]]\nname = "own"\ndata = "x"\n'
METHOD = '[[method]]\nmethod = "recursive"\n'


def load(folder: Path, text: str) -> Experiment:
    path = folder / "trial.toml"
    path.write_text(text, encoding="utf-8")
    return load_experiment(path)


def labels(experiment: Experiment) -> list[str]:
    return [row.label for row in experiment.rows]


def test_the_least_that_an_experiment_says(tmp_path: Path) -> None:
    found = load(tmp_path, SOURCE + METHOD)
    assert (found.name, found.title, found.measures) == ("trial", "trial", ("retrieval",))
    assert found.sources == (Source("own", "x", {}),)
    assert labels(found) == ["recursive"]
    settings = found.rows[0].settings
    assert settings is not None
    assert (settings.method, settings.theta, settings.unit) == ("recursive", 300, "words")


def test_all_that_an_experiment_may_say(tmp_path: Path) -> None:
    found = load(
        tmp_path,
        'name = "n"\ntitle = "t"\nmeasures = ["answers", "memory"]\nbaseline = "g"\n'
        'rule = "rouge"\nmodel = "m"\nembedder = "e"\nreader_k = 3\ntheta_of_gold = 1.5\n'
        f'{SOURCE}limit = 7\nlanguage = "zh"\n'
        '[[method]]\nlabel = "g"\nmethod = "global"\ntheta = 90\nunit = "tokens"\n'
        'language = "de"\nchildren = [3]\nmodel = "n"\nsearch = [0, 1]\noptions.target = 60\n'
        '[[method]]\npublished = "people"\n'
        '[[method]]\nlabel = "c"\nmethod = "recursive"\ncontext = "closed"\n',
    )
    assert (found.name, found.title, found.measures) == ("n", "t", ("answers", "memory"))
    assert (found.rule, found.model, found.embedder, found.reader_k) == ("rouge", "m", "e", 3)
    assert found.theta_of_gold == 1.5
    assert found.sources[0].options == {"limit": 7, "language": "zh"}
    first, second, third = found.rows
    assert first.settings is not None
    assert first.settings.configuration == {
        "method": "global", "theta": 90, "unit": "tokens", "language": "de", "children": [3],
        "signal": "eos", "drift": False, "target": 60, "strength": 1.0,
    }  # fmt: skip
    assert (first.model, first.search) == ("n", (0, 1))
    assert (second.label, second.published, second.settings) == ("people", "people", None)
    assert third.context == "closed"


def test_lists_make_rows_in_the_order_of_their_values(tmp_path: Path) -> None:
    found = load(
        tmp_path,
        f'{SOURCE}[[method]]\nlabel = "g"\nmethod = "global"\ntheta = [200, 300]\n'
        'children = [2, 4]\noptions.signal = ["eos", "topic"]\noptions.strength = 2\n',
    )
    assert labels(found) == [
        "g θ=200 signal=eos", "g θ=200 signal=topic", "g θ=300 signal=eos", "g θ=300 signal=topic",
    ]  # fmt: skip
    chosen = [row.settings for row in found.rows if row.settings]
    assert [(s.theta, s.options.signal) for s in chosen] == [
        (200, "eos"), (200, "topic"), (300, "eos"), (300, "topic"),
    ]  # fmt: skip
    assert {(s.children, s.options.strength) for s in chosen} == {((2, 4), 2)}


def test_a_file_of_boundaries_is_a_path(tmp_path: Path) -> None:
    spans = tmp_path / "spans.jsonl"
    spans.write_text('{"document": "a", "start": 0, "end": 2}\n')
    text = f'[[method]]\nmethod = "manual"\noptions.boundaries = "{spans}"\n'
    [row] = load(tmp_path, SOURCE + text).rows
    assert row.settings is not None
    assert row.settings.options.boundaries == spans


VARIED = (
    '[[method]]\nmethod = "lg"\ntheta = [200, 300]\n'
    '[[method]]\nlabel = "lg with more"\nmethod = "lgmgc"\nmodel = "m"\n'
)


def test_a_control_of_each_of_the_rows_of_a_method(tmp_path: Path) -> None:
    text = f'{SOURCE}{VARIED}[[method]]\nmethod = "random"\nlike = "lg"\nseeds = 4\n'
    found = load(tmp_path, text)
    assert labels(found)[3:] == ["random, sizes of lg θ=200", "random, sizes of lg θ=300"]
    assert [row.like for row in found.rows[3:]] == ["lg θ=200", "lg θ=300"]
    assert {row.seeds for row in found.rows[3:]} == {4}


def test_a_control_of_one_row_of_several(tmp_path: Path) -> None:
    text = f'{SOURCE}{VARIED}[[method]]\nmethod = "random"\nlabel = "c"\nlike = "lg θ=300"\n'
    assert [(row.label, row.like) for row in load(tmp_path, text).rows[3:]] == [("c", "lg θ=300")]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (METHOD, "needs at least one [[benchmark]]"),
        (SOURCE, "needs at least one [[method]]"),
        ("benchmark = []\n" + METHOD, "needs at least one [[benchmark]]"),
        ('benchmark = "own"\n' + METHOD, "needs at least one [[benchmark]]"),
        ("method = [1]\n" + SOURCE, "needs at least one [[method]]"),
        ("x = 1\n" + SOURCE + METHOD, "the name 'x' is none of baseline, embedder, measures, "),
        (METHOD + '[[benchmark]]\nname = "own"\n', "a [[benchmark]] needs 'data'"),
        (METHOD + '[[benchmark]]\ndata = "x"\n', "a [[benchmark]] needs 'name'"),
        (METHOD + SOURCE + "foo = 1\n", "the name 'foo' is none of books, data, language, limit, "),
        (METHOD + SOURCE + 'limit = "7"\n', "limit is '7'; it needs a whole number from 1"),
        (METHOD + SOURCE + "limit = 0\n", "limit is 0; it needs a whole number from 1"),
        (METHOD + SOURCE + "language = 3\n", "language is 3; it needs text"),
        (METHOD + SOURCE + 'books = "Emma"\n', "books is 'Emma'; it needs a list of texts"),
        (METHOD + SOURCE.replace("own", "owm"), "the benchmark 'owm' is none of gutenqa, "),
        ('measures = "retrieval"\n' + SOURCE + METHOD, "measures is 'retrieval'; it needs a list"),
        ("measures = []\n" + SOURCE + METHOD, "measures is []; it needs a list of texts"),
        ("measures = 5\n" + SOURCE + METHOD, "measures is 5; it needs a list of texts"),
        ('measures = ["pk"]\n' + SOURCE + METHOD, "the measure 'pk' is none of retrieval, segm"),
        ('baseline = "lg"\n' + SOURCE + METHOD, "the baseline 'lg' is none of the methods' labels"),
        ('rule = "exact"\n' + SOURCE + METHOD, "the rule 'exact' is none of lowered, folded, span"),
        ("title = 4\n" + SOURCE + METHOD, "title is 4; it needs text"),
        ("reader_k = 0\n" + SOURCE + METHOD, "reader_k is 0; it needs a whole number from 1"),
        ("theta_of_gold = -1\n" + SOURCE + METHOD, "theta_of_gold is -1; it needs a number from 0"),
        ("theta_of_gold = nan\n" + SOURCE + METHOD, "theta_of_gold is nan; it needs a number"),
        (SOURCE + '[[method]]\nlabel = "a"\n', "a [[method]] needs either method or published"),
        (SOURCE + METHOD + 'published = "x"\n', "a [[method]] needs either method or published"),
        (SOURCE + '[[method]]\npublished = "x"\ntheta = 3\n', "the name 'theta' is none of "),
        (SOURCE + METHOD + METHOD, "two methods are labelled 'recursive'; give each a label"),
        (SOURCE + METHOD + "foo = 1\n", "the name 'foo' is none of "),
        (SOURCE + METHOD + "options.foo = 1\n", "the name 'foo' is none of boundaries, breakpoin"),
        (SOURCE + METHOD + "options = 1\n", "options is 1; it needs a table"),
        (SOURCE + METHOD + "options.overlap = 9\n", "recursive does not read overlap"),
        (SOURCE + METHOD + "theta = []\n", "theta is []; it needs a whole number from 1"),
        (SOURCE + METHOD + "theta = 2.5\n", "theta is 2.5; it needs a whole number from 1"),
        (SOURCE + METHOD + "theta = [200, true]\n", "theta is [200, True]; it needs a whole"),
        (SOURCE + METHOD + "children = 2\n", "children is 2; it needs a list of whole numbers"),
        (SOURCE + METHOD + 'search = "all"\n', "search is 'all'; it needs a list of whole numbers"),
        (SOURCE + METHOD + 'context = "open"\n', "the context 'open' is none of parents, closed, "),
        (SOURCE + METHOD + 'model = ["a", "b"]\n', "model is ['a', 'b']; it needs text"),
        (SOURCE + METHOD + 'unit = "miles"\n', "unit 'miles' is none of words, tokens, characters"),
        (SOURCE + '[[method]]\nmethod = "lgg"\n', "method 'lgg' is none of lgmgc, lg, mg, global"),
        (SOURCE + '[[method]]\nmethod = 5\n', "method is 5; it needs text"),
        (SOURCE + '[[method]]\nmethod = "lg"\noptions.signal = 5\n', "signal is 5; it needs text"),
        (SOURCE + '[[method]]\nmethod = "lg"\noptions.drift = "no"\n', "drift is 'no'; it needs "),
        (SOURCE + '[[method]]\nmethod = "random"\n', "random needs like, the label of a "),
        (
            SOURCE + METHOD + '[[method]]\nmethod = "random"\nlike = "lg"\n',
            "random is like 'lg', which is no [[method]] before it",
        ),
        (
            SOURCE + METHOD + '[[method]]\nmethod = "random"\nlike = "recursive"\nseeds = 0\n',
            "seeds is 0; it needs a whole number from 1",
        ),
        (
            SOURCE + METHOD + '[[method]]\nmethod = "random"\nlike = "recursive"\nmodel = "m"\n',
            "the name 'model' is none of context, label, like, method, search, seeds",
        ),
        (
            SOURCE + METHOD + '[[method]]\nmethod = "random"\nlabel = "r"\nlike = "recursive"\n'
            '[[method]]\nmethod = "random"\nlike = "r"\n',
            "random is like 'r', which is no [[method]] before it",
        ),
        (
            SOURCE + METHOD + 'context = "closed"\n'
            '[[method]]\nmethod = "random"\nlike = "recursive"\n',
            "random is like 'recursive', which is no [[method]] before it",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_is_one_sentence_that_names_the_file(
    tmp_path: Path, text: str, said: str
) -> None:
    with pytest.raises(UsageError) as raised:
        load(tmp_path, text)
    message = str(raised.value)
    assert message.startswith(f"{tmp_path / 'trial.toml'}: {said}")
    assert "\n" not in message


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"= 1", "is not TOML ("), (b'a = "\xff"', "is not TOML ("), (None, "cannot be read (No ")],
)
def test_what_is_no_toml(tmp_path: Path, content: bytes | None, said: str) -> None:
    path = tmp_path / "a.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UsageError) as raised:
        load_experiment(path)
    assert str(raised.value).startswith(f"{path}: {said}")


CHOSEN = (
    'baseline = "c"\n' + SOURCE + METHOD + '[[method]]\nmethod = "lg"\n[[method]]\nmethod = "mg"\n'
    '[[method]]\nmethod = "random"\nlike = "lg"\n'
    '[[method]]\nmethod = "random"\nlabel = "c"\nlike = "recursive"\n'
)


@pytest.mark.parametrize(
    ("patterns", "left"),
    [
        ([], ["recursive", "lg", "mg", "random, sizes of lg", "c"]),
        (["mg"], ["recursive", "mg", "c"]),  # the baseline, and what it is like
        (["random*"], ["recursive", "lg", "random, sizes of lg", "c"]),
        (["l*", "m?"], ["recursive", "lg", "mg", "c"]),
    ],
)
def test_chosen_rows_bring_what_they_need(
    tmp_path: Path, patterns: list[str], left: list[str]
) -> None:
    assert labels(select(load(tmp_path, CHOSEN), patterns)) == left


def test_a_pattern_that_matches_nothing(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"^--only 'LG' matches none of: recursive, lg, mg, "):
        select(load(tmp_path, CHOSEN), ["mg", "LG"])


@pytest.mark.parametrize("path", sorted(SCRIPTS.glob("*.toml")), ids=lambda path: path.stem)
def test_the_ready_experiments(path: Path) -> None:
    found = load_experiment(path)
    assert found.name == path.stem
    assert found.baseline in labels(found)


def test_each_experiment_of_the_issue_is_there() -> None:
    wanted = {"theta_sweep", "ablation", "granularity", "models", "qa", "segmentation", "cost"}
    assert wanted <= {path.stem for path in SCRIPTS.glob("*.toml")}
