variable "name" {
  description = "The queue's name."
  type        = string
}

variable "tags" {
  description = "Tags of all."
  type        = map(string)
  default     = {}
}
