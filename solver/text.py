"""Foreign text in messages: short, and printable on one line."""


def shown(value: object, most: int = 60) -> str:
    """Return a value as a message shows it: its `repr` in at most `most` letters."""
    try:
        text = repr(value)
    except Exception:  # a number of thousands of digits, or an object that is not our code
        text = f"<{type(value).__name__}>"
    if len(text) > most:
        text = f"{text[: most - 4]}...{text[0] if text[0] in QUOTES else ''}"
    return printable(text)


def printable(text: str) -> str:
    """Return a text in which line breaks and control characters are escaped: a terminal would obey them."""
    return "".join(letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in text)


def plies_in_words(plies: int) -> str:
    """Return so many plies as a sentence has them."""
    return f"{plies} {'ply' if plies == 1 else 'plies'}"


QUOTES = ("'", '"')
