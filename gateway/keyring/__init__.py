"""The keys that Sentinel issues, and the master key that their secrets derive from."""
