"""Words for titles."""


def counted(number: int, noun: str) -> str:
    """A number of things.

    >>> counted(1, "book"), counted(2, "book")
    ('1 book', '2 books')
    """
    return f"{number} {noun}{'' if number == 1 else 's'}"
