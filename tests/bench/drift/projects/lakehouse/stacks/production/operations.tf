resource "aws_sns_topic" "alerts" {
  name         = "${local.prefix}-alerts"
  display_name = "Data alerts"
}

resource "aws_sns_topic" "quality" {
  name         = "${local.prefix}-quality"
  display_name = "Data quality"
}

resource "aws_sqs_queue" "quality" {
  name                      = "${local.prefix}-quality"
  receive_wait_time_seconds = 10
  message_retention_seconds = var.quality.retention * 86400
}

resource "aws_sns_topic_subscription" "quality" {
  topic_arn     = aws_sns_topic.quality.arn
  protocol      = "sqs"
  endpoint      = aws_sqs_queue.quality.arn
  filter_policy = jsonencode({ severity = ["high", "critical"] })
}

resource "aws_cloudwatch_log_group" "quality" {
  name              = "/lake/quality"
  retention_in_days = var.quality.retention
}

resource "aws_cloudwatch_log_metric_filter" "rejected" {
  name           = "rejected"
  log_group_name = aws_cloudwatch_log_group.quality.name
  pattern        = "REJECTED"

  metric_transformation {
    name      = "Rejected"
    namespace = "Lake"
    value     = "1"
  }
}

resource "aws_cloudwatch_metric_alarm" "rejected" {
  alarm_name          = "${local.prefix}-rejected"
  alarm_description   = "The quality of the data falls"
  namespace           = "Lake"
  metric_name         = "Rejected"
  statistic           = "Sum"
  comparison_operator = "GreaterThanThreshold"
  period              = 60
  evaluation_periods  = var.quality.periods
  threshold           = var.quality.rejected
  alarm_actions       = [aws_sns_topic.quality.arn]
}

resource "aws_ssm_parameter" "config" {
  for_each = var.parameters

  name  = "/lake/${each.key}"
  type  = "String"
  value = each.value
}

resource "aws_ssm_parameter" "checkpoints" {
  name  = "/lake/checkpoints"
  type  = "StringList"
  value = join(",", [for checkpoint in module.checkpoint : checkpoint.name])
}

resource "aws_security_group" "warehouse" {
  name        = "${local.prefix}-warehouse"
  description = "Who reaches the warehouse"

  ingress {
    description = "tools"
    from_port   = 5439
    to_port     = 5439
    protocol    = "tcp"
    cidr_blocks = ["10.8.0.0/24", "10.8.1.0/24"]
  }
}

resource "aws_security_group" "notebook" {
  name        = "${local.prefix}-notebook"
  description = "Who reaches the notebooks"

  dynamic "ingress" {
    for_each = [
      { port = 8888, cidr = "10.8.0.0/24", about = "jupyter" },
      { port = 4040, cidr = "10.8.0.0/24", about = "spark" },
    ]

    content {
      description = ingress.value.about
      from_port   = ingress.value.port
      to_port     = ingress.value.port
      protocol    = "tcp"
      cidr_blocks = [ingress.value.cidr]
    }
  }
}

resource "aws_security_group" "transfer" {
  name        = "${local.prefix}-transfer"
  description = "Who brings files"
}

resource "aws_vpc_security_group_ingress_rule" "transfer_any" {
  security_group_id = aws_security_group.transfer.id
  description       = "Until partners have sent their addresses"
  ip_protocol       = "tcp"
  from_port         = 22
  to_port           = 22
  cidr_ipv4         = "0.0.0.0/0"
}
