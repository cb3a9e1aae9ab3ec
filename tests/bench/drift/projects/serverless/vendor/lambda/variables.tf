variable "create" {
  type    = bool
  default = true
}

variable "function_name" {
  type = string
}

variable "description" {
  type    = string
  default = ""
}

variable "handler" {
  type    = string
  default = ""
}

variable "runtime" {
  type    = string
  default = ""
}

variable "package" {
  type    = string
  default = null
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

variable "cloudwatch_logs_tags" {
  type    = map(string)
  default = {}
}

variable "role_description" {
  type    = string
  default = null
}

variable "role_tags" {
  type    = map(string)
  default = {}
}

variable "policy_statements" {
  type    = any
  default = {}
}

variable "create_async_event_config" {
  type    = bool
  default = false
}

variable "maximum_event_age_in_seconds" {
  type    = number
  default = null
}

variable "maximum_retry_attempts" {
  type    = number
  default = null
}

variable "event_source_mapping" {
  type    = any
  default = {}
}

variable "tags" {
  type    = map(string)
  default = {}
}
