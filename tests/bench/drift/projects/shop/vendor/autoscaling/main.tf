variable "create" {
  type    = bool
  default = true
}

variable "name" {
  type = string
}

variable "min_size" {
  type    = number
  default = 0
}

variable "max_size" {
  type    = number
  default = 1
}

variable "desired_capacity" {
  type    = number
  default = null
}

variable "instance_type" {
  type    = string
  default = "t3.small"
}

variable "subnets" {
  type = list(string)
}

variable "suspended_processes" {
  type    = list(string)
  default = []
}

resource "aws_launch_template" "this" {
  count = var.create ? 1 : 0

  name                   = var.name
  image_id               = "ami-12c6146b"
  instance_type          = var.instance_type
  update_default_version = true
}

resource "aws_autoscaling_group" "this" {
  count = var.create ? 1 : 0

  name                = var.name
  min_size            = var.min_size
  max_size            = var.max_size
  desired_capacity    = coalesce(var.desired_capacity, var.min_size)
  vpc_zone_identifier = var.subnets
  suspended_processes = var.suspended_processes

  launch_template {
    id      = aws_launch_template.this[0].id
    version = "$Latest"
  }
}
