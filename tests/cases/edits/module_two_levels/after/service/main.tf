variable "name" {
  type = string
}

variable "keep_days" {
  description = "The keep_days of module.jobs."
  type        = number
  default     = 4
}

variable "delay_seconds" {
  description = "The delay_seconds of aws_sqs_queue.this."
  type        = number
  default     = 0
}

module "jobs" {
  source = "../queue"
  name   = "${var.name}-jobs"

  keep_days     = var.keep_days
  delay_seconds = var.delay_seconds
}
