variable "name" {
  type = string
}

variable "delay" {
  type    = number
  default = 0
}

resource "aws_sqs_queue" "this" {
  name             = var.name
  delay_seconds    = var.delay
  max_message_size = 1024
}
