"""From the wire to parameters: one module per family of wire formats, each the reverse of a botocore serializer."""
