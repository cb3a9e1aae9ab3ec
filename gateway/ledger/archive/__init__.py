"""Retention: old records leave the database as signed files."""
