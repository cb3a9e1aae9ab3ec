"""Calls by proxy: batches, schedules, templates and documents, unpacked into the calls that they make AWS carry out."""
