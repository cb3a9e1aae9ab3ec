variable "name" {
  type = string
}

variable "cluster_arn" {
  type = string
}

variable "subnet_ids" {
  type = list(string)
}

variable "desired_count" {
  type    = number
  default = 1
}

variable "cpu" {
  type    = number
  default = 256
}

variable "memory" {
  type    = number
  default = 512
}

variable "image" {
  type    = string
  default = "platform/base:1"
}

variable "create_cloudwatch_log_group" {
  type    = bool
  default = true
}

variable "cloudwatch_log_group_name" {
  type    = string
  default = null
}

variable "cloudwatch_log_group_retention_in_days" {
  type    = number
  default = 30
}

variable "cloudwatch_log_group_tags" {
  type    = map(string)
  default = {}
}

variable "service_tags" {
  type    = map(string)
  default = {}
}

variable "tags" {
  type    = map(string)
  default = {}
}
