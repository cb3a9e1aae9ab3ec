variable "web" {
  type = object({
    min     = number
    max     = number
    desired = number
  })
}

variable "session_hours" {
  type    = number
  default = 1
}
