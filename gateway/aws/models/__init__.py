"""Tables derived from botocore's models and reviewed data about operations: routing, classes, sensitive members."""
