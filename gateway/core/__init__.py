"""The nouns, ports, settings and errors that both programs share. Imports nothing above itself; read `ports` first."""
