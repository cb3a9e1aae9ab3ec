variable "name" {
  type = string
}

variable "visibility" {
  type = number

  validation {
    condition     = var.visibility >= 10
    error_message = "A worker needs ten seconds for a message."
  }
}

resource "aws_sqs_queue" "dead_letters" {
  name = "${var.name}-dead-letters"
}

resource "aws_sqs_queue" "this" {
  name                       = var.name
  visibility_timeout_seconds = var.visibility
  redrive_policy             = jsonencode({ deadLetterTargetArn = aws_sqs_queue.dead_letters.arn })
}

resource "aws_cloudwatch_metric_alarm" "waiting" {
  alarm_name = "${var.name}-waiting"
  threshold  = 1000

  dimensions = {
    QueueName = aws_sqs_queue.this.name
  }
}
