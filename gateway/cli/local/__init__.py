"""`sentinel up` and `sentinel tour`: all of Sentinel on one machine."""
