variable "consumers" { type = number }

resource "aws_autoscaling_group" "a" {
  desired_capacity = var.consumers
}
