variable "hours" {
  default = 2
}

resource "aws_sqs_queue" "a" {
  visibility_timeout_seconds = 5000
}
