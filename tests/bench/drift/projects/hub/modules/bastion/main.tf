resource "aws_launch_template" "this" {
  name                   = var.name
  image_id               = "ami-12c6146b"
  instance_type          = var.instance_type
  update_default_version = true
}

resource "aws_autoscaling_group" "this" {
  name                = var.name
  min_size            = var.sizes.min
  max_size            = var.sizes.max
  desired_capacity    = var.sizes.desired
  vpc_zone_identifier = var.subnets
  suspended_processes = var.suspended

  launch_template {
    id      = aws_launch_template.this.id
    version = aws_launch_template.this.latest_version
  }
}

resource "aws_cloudwatch_log_group" "sessions" {
  name              = "/bastion/${var.name}"
  retention_in_days = var.session_days
}
