variable "consumers" {
  type    = number
  default = 200 # RFC-12
}

resource "aws_autoscaling_group" "a" {
  desired_capacity = var.consumers
}
