"""Changes from outside: policy decides about each, and `watch` knows what is quarantined."""
