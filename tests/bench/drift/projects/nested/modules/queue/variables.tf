variable "name" {
  type = string
}

variable "visibility" {
  type    = number
  default = 30
}

variable "keep_days" {
  description = "How long a message is kept."
  type        = number
  default     = 4
}

variable "log_days" {
  type    = number
  default = 14
}

variable "tags" {
  type    = map(string)
  default = {}
}
