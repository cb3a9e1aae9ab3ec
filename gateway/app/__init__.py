"""The composition root: which adapter serves which port, the ordered list of checks, the doors, and the work in the background. Read `running` first."""
