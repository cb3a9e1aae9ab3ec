consumers = 3 # peak
