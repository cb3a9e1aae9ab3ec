# What this account needs otherwise than the shared configuration says.

resource "aws_cloudwatch_log_group" "audit" {
  retention_in_days = 90
}

resource "aws_sqs_queue" "audit" {
  delay_seconds = 10
}
