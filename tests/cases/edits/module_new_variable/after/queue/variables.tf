variable "name" {
  description = "The queue's name."
  type        = string
}

variable "tags" {
  description = "Tags of all."
  type        = map(string)
  default     = {}
}

variable "retention_in_days" {
  description = "The retention_in_days of aws_cloudwatch_log_group.this, by key."
  type        = map(number)
  default     = {}
}

variable "delay_seconds" {
  description = "The delay_seconds of aws_sqs_queue.this."
  type        = number
  default     = 0
}

variable "point_in_time_recovery" {
  description = "The point_in_time_recovery of aws_dynamodb_table.this."
  type        = list(object({ enabled = bool }))
  default     = []
}

variable "queue_name" {
  description = "The name of aws_sqs_queue.this."
  type        = string
  default     = null
}
