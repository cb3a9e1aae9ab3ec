variable "name" {
  type = string
}

variable "keep_days" {
  type    = number
  default = 4
}

variable "delay_seconds" {
  description = "The delay_seconds of aws_sqs_queue.this."
  type        = number
  default     = 0
}

resource "aws_sqs_queue" "this" {
  name                      = var.name
  delay_seconds             = var.delay_seconds
  message_retention_seconds = var.keep_days * 86400
}
