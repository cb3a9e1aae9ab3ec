resource "aws_sqs_queue" "a" {
  delay_seconds = 6
}
