resource "aws_dynamodb_table" "offsets" {
  name         = "kafka-offsets"
  billing_mode = "PAY_PER_REQUEST"
  hash_key     = "partition"

  attribute {
    name = "partition"
    type = "S"
  }

  tags = local.tags
}

resource "aws_sqs_queue" "dead_letters" {
  name                       = "kafka-dead-letters"
  visibility_timeout_seconds = local.visibility_timeout
  message_retention_seconds  = 1209600
}

resource "aws_cloudwatch_log_group" "consumer" {
  for_each = var.log_groups

  name              = "/kafka/consumer/${each.key}"
  retention_in_days = each.value.retention
}
