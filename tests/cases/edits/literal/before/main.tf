# Queues.
resource "aws_sqs_queue" "jobs" {
  name                      = "jobs"  # name
  message_retention_seconds = 86400   # one day
  delay_seconds             = 5       # keep
  fifo_queue                = false

  tags = { owner = "a" }
}
