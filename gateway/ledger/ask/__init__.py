"""The queries of the ledger: for people, for the reconciler, and for exports."""
