"""The ledger's database: tables, statements, the writer and the readers. Read `tables` and `writer` first."""
