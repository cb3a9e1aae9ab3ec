"""The proofs of identity, a file each, and the master key. Read `sigv4` and `bearer` first."""
