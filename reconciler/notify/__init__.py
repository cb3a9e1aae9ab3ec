"""Tells receivers what was recorded: signed webhooks, and cards in a chat.

Read `delivery.py` first. Imports no other room of the reconciler.
"""
