"""Where a hit stands for a reader: pages and headings."""

from pathlib import Path

from lgmgc import Chunker, Document, Settings
from lgmgc.document import Heading
from lgmgc.retrieval.index import Index

TEXT = "# Tide\nHigh water is late.\n## Fish\nHerring sells at six.\n"
FISH = TEXT.index("## Fish")


def test_a_hit_knows_its_pages_and_headings(tmp_path: Path) -> None:
    titles = (Heading(0, 1, "Tide"), Heading(FISH, 2, "Fish"))
    document = Document("a.pdf", TEXT, pages=(0, FISH), headings=titles)
    with Index.open(tmp_path / "a.db", create=True) as index:
        index.add([Chunker(Settings("sentences", 5)).chunk(document)])
        [herring] = index.search("herring", mode="lexical")
        [water] = index.search("water", mode="lexical")
    assert (herring.parent.pages, herring.parent.headings) == ((2, 2), ("Tide", "Fish"))
    assert (water.parent.pages, water.parent.headings) == ((1, 1), ("Tide",))
