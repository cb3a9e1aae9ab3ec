"""The keys that Sentinel issues, and the master key from which their secrets are derived."""
