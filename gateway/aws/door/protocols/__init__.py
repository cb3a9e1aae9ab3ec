"""Parsers of the six wire protocols of AWS, a file each; `decoder` chooses among them."""
