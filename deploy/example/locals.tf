locals {
  name = "kafka-consumer"

  # Seconds that a message may wait before another consumer may take it.
  visibility_timeout = 120

  tags = {
    team        = "streaming"
    environment = var.environment
  }
}
