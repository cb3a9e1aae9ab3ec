variable "name" {
  type = string
}

variable "memory" {
  description = "Megabytes of a worker"
  type        = number

  validation {
    condition     = var.memory >= 128 && var.memory <= 2048 && var.memory % 64 == 0
    error_message = "A worker has 128 to 2048 MB, in steps of 64."
  }
}

variable "timeout" {
  type = number
}

variable "environment" {
  type    = map(string)
  default = {}
}

variable "queue" {
  description = "The queue that feeds the worker"
  type = object({
    arn   = string
    batch = optional(number, 10)
  })
}

variable "log_days" {
  type    = number
  default = 30
}

variable "actions" {
  description = "What the worker may do with the tables of its layer"
  type        = list(string)
  default     = ["dynamodb:GetItem"]
}

variable "tags" {
  type    = map(string)
  default = {}
}
