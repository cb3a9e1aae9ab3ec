variable "name" {
  type = string
}

variable "visibility" {
  type = number
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
  threshold           = 1000

  dimensions = {
    QueueName = aws_sqs_queue.this.name
  }
}
