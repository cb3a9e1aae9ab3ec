"""The words and JSON forms that doors and the command line share: refusals, explanations, serialized nouns."""
