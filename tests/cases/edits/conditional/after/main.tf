variable "env" {
  default = "prod"
}

variable "big" {
  default = 30
}

resource "aws_autoscaling_group" "a" {
  max_size         = var.env == "prod" ? var.big : 6
  desired_capacity = var.env == "dev" ? 1 : var.env == "prod" ? 5 : 2
  min_size         = aws_vpc.x.main ? 1 : 2
}
