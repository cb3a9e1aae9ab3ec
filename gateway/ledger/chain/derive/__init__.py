"""What each table must hold as far as the records say. Read `derivation` first."""
