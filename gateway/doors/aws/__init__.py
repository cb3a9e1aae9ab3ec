"""The AWS-compatible endpoint: routing, decoding, errors and streamed reads, for all six AWS protocols."""
