"""The methods by name."""

from __future__ import annotations

from dataclasses import replace

from lgmgc.chunkers.fixed import fixed
from lgmgc.chunkers.global_rule import global_rule
from lgmgc.chunkers.logits_guided import logits_guided
from lgmgc.chunkers.lumber import lumber
from lgmgc.chunkers.manual import check, manual
from lgmgc.chunkers.method import Method
from lgmgc.chunkers.options import Options
from lgmgc.chunkers.paragraph import paragraph
from lgmgc.chunkers.perplexity import perplexity
from lgmgc.chunkers.proposition import proposition
from lgmgc.chunkers.random_control import random_control
from lgmgc.chunkers.recursive import recursive
from lgmgc.chunkers.semantic import semantic, threshold_of
from lgmgc.chunkers.sentence_packing import sentence_packing
from lgmgc.chunkers.small2big import small2big
from lgmgc.errors import UsageError

NOTHING = "no model"
GREEDY = "a model reads the text about twice"
ONCE = "a model reads the text about once"

_SIGNAL = ("signal", "drift")

METHODS = {
    method.name: method
    for method in (
        Method("lgmgc", "lg, with children of θ/2 and θ/4 (Liu et al. 2025)", GREEDY,
               logits_guided, ("scorer",), (*_SIGNAL, "least"), children=(2, 4)),
        Method("lg", "cut where the model says that the text ends: LGMGC's parents", GREEDY,
               logits_guided, ("scorer",), (*_SIGNAL, "least")),
        Method("mg", "recursive, with children of θ/2 and θ/4: LGMGC without a model", NOTHING,
               recursive, children=(2, 4)),
        Method("global", "all cuts chosen together from one reading, near a target size", ONCE,
               global_rule, ("scorer",), (*_SIGNAL, "target", "strength"), long=True),
        Method("perplexity", "cut after the sentences easiest to foresee (Meta-Chunking)", ONCE,
               perplexity, ("scorer",), ("threshold",), long=True),
        Method("lumber", "ask a model which paragraph begins something new (LumberChunker)",
               "a model reads the text about twice, and writes", lumber, ("writer",),
               ("group", "reader")),
        Method("proposition", "whole sentences up to θ, found by propositions (Dense X)",
               "a model reads the text and writes as much", proposition, ("writer",),
               ("propositionizer",)),
        Method("semantic", "cut where neighbouring sentences' vectors differ (Kamradt)",
               "an embedder reads the text three times", semantic, ("embedder",),
               ("breakpoint", "threshold"), check=threshold_of),
        Method("recursive", "paragraphs, lines, sentences, words, merged up to θ (LangChain)",
               NOTHING, recursive),
        Method("paragraph", "paragraphs as they are; what exceeds θ by the recursive rule",
               NOTHING, paragraph),
        Method("sentences", "whole sentences packed up to θ", NOTHING, sentence_packing),
        Method("fixed", "θ words, tokens or characters, whatever stands there", NOTHING, fixed,
               options=("overlap",)),
        Method("small2big", "pieces of θ/4, each read in a window of θ around it (LlamaIndex)",
               NOTHING, small2big),
        Method("manual", "where a file or a marker says", NOTHING, manual,
               options=("boundaries", "marker"), check=check),
        Method("random", "at random sentence ends, with the sizes that another method makes",
               "as that method", random_control(sentence_packing), options=("like", "seed")),
    )
}  # fmt: skip


def resolve(name: str, options: Options) -> Method:
    """The method of that name, as the options make it.

    Raises:
        UsageError: ``random`` is to be like something that it cannot be like.
    """
    method = METHODS[name]
    if name != "random":
        return method
    others = [other for other in METHODS if other not in ("random", "manual", "fixed")]
    if options.like not in others:
        raise UsageError(f"random cannot be like {options.like!r}, only {', '.join(others)}")
    like = METHODS[options.like]
    return replace(
        method,
        cut=random_control(like.cut),
        needs=like.needs,
        options=(*method.options, *like.options),
        long=like.long,
        check=like.check,
    )
