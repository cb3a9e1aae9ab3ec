"""Reads a request before anything in it is trusted, for every door: ASGI, limits, strict parsers, the motive in its headers."""
