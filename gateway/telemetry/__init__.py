"""What a gateway tells about its own work: figures for Prometheus, and spans of the line of a mutation. Neither names an actor or a resource in a label."""
