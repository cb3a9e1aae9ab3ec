"""Changes from outside: policy decides about each, and `decisions` knows what is quarantined."""
