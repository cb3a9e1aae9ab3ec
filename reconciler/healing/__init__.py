"""The bounded loop that sets a declared value again: plan, classify, apply exactly that plan, look again."""
