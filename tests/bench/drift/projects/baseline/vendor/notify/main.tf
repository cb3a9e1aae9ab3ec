variable "name" {
  type = string
}

variable "topic" {
  type    = map(string)
  default = {}
}

variable "tags" {
  type    = map(string)
  default = {}
}

resource "aws_sns_topic" "this" {
  name         = "${var.name}-notify"
  display_name = lookup(var.topic, "display_name", "")
  tags         = var.tags
}

resource "aws_sqs_queue" "failed" {
  name                       = "${var.name}-notify-failed"
  message_retention_seconds  = 1209600
  visibility_timeout_seconds = 30
  tags                       = var.tags
}

output "topic_arn" {
  value = aws_sns_topic.this.arn
}
