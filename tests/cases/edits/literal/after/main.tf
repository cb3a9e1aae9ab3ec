# Queues.
resource "aws_sqs_queue" "jobs" {
  name                      = "jobs"  # name
  message_retention_seconds = 1209600   # one day
  delay_seconds             = 5       # keep
  fifo_queue                = true

  tags = { owner = "$${b} %%{c} \"d\"\n" }
}
