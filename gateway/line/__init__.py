"""The line that every change goes through: `pipeline` is read first. Imports effects, identity, terraform and core."""
