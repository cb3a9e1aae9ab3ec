variable "name" {
  type = string
}

variable "visibility" {
  type    = number
  default = 30
}

variable "options" {
  type = object({
    delay = optional(number, 0)
    fifo  = optional(bool)
  })
  default = {}
}

resource "aws_sqs_queue" "this" {
  name                       = var.name
  visibility_timeout_seconds = var.visibility
  delay_seconds              = var.options.delay
  max_message_size           = 1024
}

output "size" {
  value = 5
}
