variable "name" {
  type = string
}

variable "topic" {
  type = string
}

resource "aws_sqs_queue" "this" {
  name = "services-inbox-${var.name}"
}

resource "aws_cloudwatch_log_group" "this" {
  name              = "/services/inbox/${var.name}"
  retention_in_days = 14
}

resource "aws_sns_topic_subscription" "this" {
  topic_arn = var.topic
  protocol  = "sqs"
  endpoint  = aws_sqs_queue.this.arn
}
