"""The gateway: every change to AWS goes through the steps of `gateway.pipeline` once."""
