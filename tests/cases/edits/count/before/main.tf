resource "aws_sqs_queue" "w" {
  count = 2

  visibility_timeout_seconds = 45
  delay_seconds              = 5
  name                       = "w-${count.index}"
}
