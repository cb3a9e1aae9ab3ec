"""Requests that Sentinel itself sends, apart from the calls to AWS: one guarded HTTP client, and the signatures of webhooks."""
