"""What botocore's models say, and reviewed data about operations: routing, classes, sensitive members."""
