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

variable "max_message_size" {
  description = "The max_message_size of aws_sqs_queue.this."
  type        = number
  default     = 1024
}

variable "fifo_queue" {
  description = "The fifo_queue of aws_sqs_queue.this."
  type        = bool
  default     = null
}

resource "aws_sqs_queue" "this" {
  name                       = var.name
  visibility_timeout_seconds = var.visibility
  delay_seconds              = var.options.delay
  max_message_size           = var.max_message_size
  fifo_queue                 = var.fifo_queue
}

output "size" {
  value = 6
}
