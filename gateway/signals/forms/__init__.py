"""One module for each form of message: how its events are read. A message is verified before it is parsed (`../verify.py`)."""
