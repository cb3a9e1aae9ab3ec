variable "name" {
  description = "Name of the worker and of its queue."
  type        = string
}

variable "visibility" {
  description = "Seconds a message is hidden while a worker has it."
  type        = number
}

variable "alarm_at" {
  description = "Number of waiting messages above which the alarm is raised."
  type        = number
  default     = 1000
}

resource "aws_sqs_queue" "this" {
  name                       = var.name
  visibility_timeout_seconds = var.visibility
}

resource "aws_cloudwatch_metric_alarm" "waiting" {
  alarm_name          = "${var.name}-waiting"
  namespace           = "AWS/SQS"
  metric_name         = "ApproximateNumberOfMessagesVisible"
  statistic           = "Average"
  comparison_operator = "GreaterThanThreshold"
  period              = 300
  evaluation_periods  = 1
  threshold           = var.alarm_at

  dimensions = {
    QueueName = aws_sqs_queue.this.name
  }
}
