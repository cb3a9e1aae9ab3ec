"""`sentinel up` and `sentinel tour`: the whole product on one machine."""
