"""Makes texts that others wrote safe to show to people."""


def visible(text: str) -> str:
    """The text with control characters as escapes, also those that change the direction of writing. Line breaks stay."""
    return "".join(each if each.isprintable() or each == "\n" else ascii(each)[1:-1] for each in text)
