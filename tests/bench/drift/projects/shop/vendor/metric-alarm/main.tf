variable "create_metric_alarm" {
  type    = bool
  default = true
}

variable "alarm_name" {
  type = string
}

variable "alarm_description" {
  type    = string
  default = "Watched by the platform"
}

variable "namespace" {
  type = string
}

variable "metric_name" {
  type = string
}

variable "statistic" {
  type    = string
  default = "Average"
}

variable "period" {
  type    = number
  default = 60
}

variable "evaluation_periods" {
  type    = number
  default = 2
}

variable "threshold" {
  type = number
}

variable "alarm_actions" {
  type    = list(string)
  default = null
}

variable "dimensions" {
  type    = map(string)
  default = {}
}

variable "tags" {
  type    = map(string)
  default = {}
}

resource "aws_cloudwatch_metric_alarm" "this" {
  count = var.create_metric_alarm ? 1 : 0

  alarm_name          = var.alarm_name
  alarm_description   = var.alarm_description
  namespace           = var.namespace
  metric_name         = var.metric_name
  statistic           = var.statistic
  comparison_operator = "GreaterThanThreshold"
  period              = var.period
  evaluation_periods  = var.evaluation_periods
  threshold           = var.threshold
  alarm_actions       = var.alarm_actions
  dimensions          = var.dimensions
  tags                = var.tags
}
