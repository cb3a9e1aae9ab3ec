"""The nouns of the design: frozen, free of I/O, importable by everyone."""
