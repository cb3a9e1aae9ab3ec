resource "aws_launch_template" "render" {
  name                   = "${var.environment}-render"
  image_id               = "ami-12c6146b"
  instance_type          = var.fleet.type
  update_default_version = true
}

resource "aws_autoscaling_group" "render" {
  name                = "${var.environment}-render"
  min_size            = var.fleet.min
  max_size            = var.fleet.max
  desired_capacity    = var.fleet.desired
  suspended_processes = var.fleet.suspended
  vpc_zone_identifier = local.network.subnet_ids["private"]

  launch_template {
    id      = aws_launch_template.render.id
    version = "$Default"
  }
}
