variable "name" {
  type = string
}

variable "days" {
  type    = number
  default = 14
}

resource "aws_cloudwatch_log_group" "this" {
  name              = var.name
  retention_in_days = var.days
}
