resource "aws_sqs_queue" "w" {
  count = 2

  visibility_timeout_seconds = count.index == 1 ? 60 : 45
  delay_seconds              = 9
  name                       = "w-${count.index}"
}
