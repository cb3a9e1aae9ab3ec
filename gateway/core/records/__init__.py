"""The records of the ledger: one type for the body of each stage, and what follows from several records."""
