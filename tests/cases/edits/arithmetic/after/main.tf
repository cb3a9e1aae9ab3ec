variable "hours" {
  default = 3
}

variable "minus" {
  default = 30
}

variable "shifted" {
  default = 5
}

resource "aws_sqs_queue" "a" {
  visibility_timeout_seconds = var.hours * 3600
  delay_seconds              = 100 - var.minus
  receive_wait_time_seconds  = (var.shifted + 5) * 2
  max_message_size           = 6144
}
