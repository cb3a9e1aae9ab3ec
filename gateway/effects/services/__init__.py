"""What the operations of each AWS service do, one file per service."""
