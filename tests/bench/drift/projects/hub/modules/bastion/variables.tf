variable "name" {
  type = string
}

variable "instance_type" {
  type    = string
  default = "t3.micro"
}

variable "sizes" {
  type = object({ min = number, max = number, desired = number })

  validation {
    condition     = var.sizes.max <= 4
    error_message = "A group of bastions has 4 addresses in the offices' firewalls."
  }
}

variable "subnets" {
  type = list(string)
}

variable "suspended" {
  type    = list(string)
  default = []
}

variable "session_days" {
  type = number
}
