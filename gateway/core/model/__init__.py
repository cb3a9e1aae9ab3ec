"""The nouns of the product: frozen values without I/O. Read `mutation` and `verdict` first."""
