resource "aws_sqs_queue" "jobs" {
  name = "jobs"
  delay_seconds   =   10
   message_retention_seconds =1209600
  visibility_timeout_seconds = 10
}
