variable "name" {
  type = string
}

variable "keep_days" {
  type    = number
  default = 4
}

variable "delay_seconds" {
  type    = number
  default = 0
}

module "jobs" {
  source        = "../queue"
  name          = "${var.name}-jobs"
  keep_days     = var.keep_days
  delay_seconds = var.delay_seconds
}
