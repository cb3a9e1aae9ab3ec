variable "consumers" {
  type    = number
  default = 2
}

variable "size" {
  default = "small"
}

resource "aws_autoscaling_group" "a" {
  desired_capacity = var.consumers
  min_size         = 1
  placement        = var.size
}
