"""Globs on resource types and names, as contracts write them."""


def fits(pattern: str, text: str) -> bool:
    """Whether the text fits a glob of `*` and `?` only: brackets are literal, because addresses contain them.

    Takes at most pattern times text steps: only the last `*` is ever tried again, whereas a regular expression would try them all.
    """
    if pattern == "*" or not ("*" in pattern or "?" in pattern):
        return pattern in ("*", text)
    at, place, star, resumed = 0, 0, -1, 0
    while place < len(text):
        mark = pattern[at] if at < len(pattern) else ""
        if mark == "*":
            star, resumed, at = at, place, at + 1
        elif mark in ("?", text[place]):
            at, place = at + 1, place + 1
        elif star >= 0:
            resumed += 1
            at, place = star + 1, resumed
        else:
            return False
    return not pattern[at:].strip("*")
