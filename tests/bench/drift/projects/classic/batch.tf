resource "aws_launch_template" "batch" {
  name                   = "${var.name}-batch"
  image_id               = "ami-12c6146b"
  instance_type          = "t3.small"
  update_default_version = true
}

resource "aws_autoscaling_group" "batch" {
  name                = "${var.name}-batch"
  min_size            = var.batch_min
  max_size            = coalesce(var.batch_max, var.batch_min * 3)
  desired_capacity    = var.batch_min
  vpc_zone_identifier = aws_subnet.public[*].id
  suspended_processes = var.batch_frozen ? ["Launch", "Terminate"] : []

  launch_template {
    id      = aws_launch_template.batch.id
    version = "$Default"
  }
}

resource "aws_sqs_queue" "batch" {
  name                       = "${var.name}-batch"
  visibility_timeout_seconds = 300
  tags                       = merge(var.tags, lookup(var.more_tags, "batch", {}), { Name = "${var.name}-batch" })
}
