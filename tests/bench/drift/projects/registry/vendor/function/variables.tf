variable "create" {
  type    = bool
  default = true
}

variable "function_name" {
  type = string
}

variable "lambda_role" {
  type = string
}

variable "runtime" {
  type    = string
  default = "python3.12"
}

variable "handler" {
  type    = string
  default = "main.handler"
}

variable "memory_size" {
  type    = number
  default = 128
}

variable "timeout" {
  type    = number
  default = 3
}

variable "reserved_concurrent_executions" {
  type    = number
  default = -1
}

variable "environment_variables" {
  type    = map(string)
  default = {}
}

variable "tracing_mode" {
  type    = string
  default = null
}

variable "cloudwatch_logs_retention_in_days" {
  type    = number
  default = null
}
