variable "name" {
  type = string
}

variable "keep_days" {
  type    = number
  default = 4
}

resource "aws_sqs_queue" "this" {
  name                      = var.name
  delay_seconds             = 0
  message_retention_seconds = var.keep_days * 86400
}
