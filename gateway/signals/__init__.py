"""What outside sources say about alerts and the like: verified, read, mapped to resources, and held against the evidence of motives."""
