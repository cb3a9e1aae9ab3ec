"""Where edits go: a git branch."""
