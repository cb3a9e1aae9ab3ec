"""The console at `/console`: pages for people, rendered here, over the JSON API. README.md beside this file says how it is made."""
