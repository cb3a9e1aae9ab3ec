variable "environment" {
  type    = string
  default = "staging"
}

variable "instance_type" {
  description = "Size of the web server."
  type        = string
  default     = "t3.small" # see the capacity plan
}

variable "fleet_desired" {
  type = number
}

variable "fleet_max" {
  type = number
}

variable "retention_days" {
  type    = number
  default = 30
}

variable "worker_memory" {
  type = number
}

variable "worker_timeout" {
  type    = number
  default = 30
}

variable "db_class" {
  type    = string
  default = "db.t3.medium"
}

variable "db_backup_days" {
  type    = number
  default = 7
}

variable "hold_days" {
  description = "How long the dead letters are kept, in days."
  type        = number
  default     = 4
}

variable "allowed_cidrs" {
  type    = list(string)
  default = ["10.0.0.0/16"]
}

variable "web_tags" {
  type    = map(string)
  default = {}
}
