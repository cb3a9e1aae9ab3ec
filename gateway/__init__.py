"""Every change to AWS passes here once, along the straight line of `gateway.pipeline`."""
