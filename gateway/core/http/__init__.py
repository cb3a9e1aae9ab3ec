"""What every door uses to read a request before anything in it is trusted: ASGI, limits, strict parsers, the motive in its headers."""
