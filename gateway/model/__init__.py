"""The domain values: frozen dataclasses and enums without I/O, which every other package may import."""
