# Sized for the evening peak, see capacity plan RFC-12.
consumers = 4

log_groups = {
  ingest = { retention = 14 }
  commit = { retention = 30 }
}
