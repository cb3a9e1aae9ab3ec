"""The checks of a mutation, each a file. `chain` runs them; `gateway.app.checks` lists them in order."""
