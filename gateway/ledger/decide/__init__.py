"""The commands of the ledger: each appends its record and changes its tables in one transaction. Read `decision` first."""
