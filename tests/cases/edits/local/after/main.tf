locals {
  hours   = 2
  seconds = local.hours * 3600
  odd     = 10
}

resource "aws_sqs_queue" "a" {
  visibility_timeout_seconds = 10800
  delay_seconds              = local.odd
}

resource "aws_sqs_queue" "b" {
  visibility_timeout_seconds = local.seconds / 60 - 10
}
