resource "aws_sqs_queue" "jobs" {
  name = "jobs"
  delay_seconds   =   5
   message_retention_seconds =86400
}
