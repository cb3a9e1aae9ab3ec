locals {
  name = "${var.stage}-${var.name}"
}

resource "aws_launch_template" "this" {
  name          = local.name
  image_id      = "ami-12c6146b"
  instance_type = var.size
}

resource "aws_autoscaling_group" "this" {
  name               = local.name
  availability_zones = ["eu-west-1a"]
  min_size           = var.instances.min
  max_size           = var.instances.max
  desired_capacity   = var.instances.desired

  launch_template {
    id      = aws_launch_template.this.id
    version = "$Latest"
  }
}

resource "aws_cloudwatch_log_group" "this" {
  name              = "/${var.stage}/${var.name}"
  retention_in_days = var.stage == "production" ? 365 : 30
}

resource "aws_cloudwatch_metric_alarm" "errors" {
  alarm_name          = "${local.name}-errors"
  namespace           = "App"
  metric_name         = "Errors"
  statistic           = "Sum"
  comparison_operator = "GreaterThanThreshold"
  period              = 60
  evaluation_periods  = 3
  threshold           = var.error_limit
}

resource "aws_sqs_queue" "work" {
  name                       = "${local.name}-work"
  visibility_timeout_seconds = 45
  receive_wait_time_seconds  = var.long_polling ? 20 : 0

  redrive_policy = jsonencode({
    deadLetterTargetArn = aws_sqs_queue.dead.arn
    maxReceiveCount     = 5
  })
}

resource "aws_sqs_queue" "dead" {
  name = "${local.name}-dead"
}
