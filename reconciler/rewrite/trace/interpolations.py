"""Finds the interpolations in the text of a template, and puts letters in their place, so that the rest can be read as it stands."""

from typing import Final

ESCAPED: Final = ("$${", "%%{")
"""What stands for `${` and `%{` as text."""


class NotPlain(Exception):
    """What Terraform makes of the text is not known from where it stands."""


def without_interpolations(text: str) -> str:
    """The text with letters in place of each interpolation, as long as before. Raises `NotPlain` for directives: what they leave out is not known."""
    written: list[str] = []
    position = 0
    while position < len(text):
        end = position + 1
        if text.startswith(ESCAPED, position):
            end = position + 3
        elif text.startswith("${", position):
            end = end_of_interpolation(text, position + 2)
            written.append("x" * (end - position))
            position = end
            continue
        elif text.startswith("%{", position):
            raise NotPlain
        written.append(text[position:end])
        position = end
    return "".join(written)


def end_of_interpolation(text: str, position: int) -> int:
    """Where an interpolation ends whose text begins at a position. Raises `NotPlain` if it does not end."""
    depth, inside = 1, False
    while depth:
        if position >= len(text):
            raise NotPlain
        character = text[position]
        if inside and character == "\\":
            position += 1
        elif character == '"':
            inside = not inside
        elif not inside:
            depth += {"{": 1, "}": -1}.get(character, 0)
        position += 1
    return position
