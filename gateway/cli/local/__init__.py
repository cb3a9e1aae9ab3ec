"""`sentinel up` and `sentinel tour`: everything on one machine."""
