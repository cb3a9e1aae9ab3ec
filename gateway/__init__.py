"""The gateway: every change to AWS goes through the steps of `gateway.line.pipeline` once."""
