resource "aws_sns_topic" "seed" {
  name                                = "seed"
  display_name                        = "First"        # then "Second"
  kms_master_key_id                   = "alias/first"  # then "alias/second"
  sqs_success_feedback_role_arn       = "arn:aws:iam::123456789012:role/first" # then "arn:aws:iam::123456789012:role/second"
  sqs_success_feedback_sample_rate    = 10             # then 20
  sqs_failure_feedback_role_arn       = "arn:aws:iam::123456789012:role/first" # then "arn:aws:iam::123456789012:role/second"
  lambda_success_feedback_sample_rate = 30             # then 40
  http_failure_feedback_role_arn      = "arn:aws:iam::123456789012:role/first" # then "arn:aws:iam::123456789012:role/second"
  signature_version                   = 1              # then 2
  tracing_config                      = "PassThrough"  # then "Active"
  delivery_policy                     = jsonencode({ http = { defaultHealthyRetryPolicy = { minDelayTarget = 20, maxDelayTarget = 20, numRetries = 3 } } }) # then jsonencode({ http = { defaultHealthyRetryPolicy = { minDelayTarget = 20, maxDelayTarget = 20, numRetries = 4 } } })
  tags                                = { team = "one", kept = "yes" } # then { team = "two", added = "yes" }
}

resource "aws_sns_topic" "fifo" {
  name                        = "seed.fifo"
  fifo_topic                  = true
  content_based_deduplication = false # then true
}

resource "aws_sns_topic_policy" "seed" {
  arn    = aws_sns_topic.seed.arn
  policy = jsonencode({ Version = "2012-10-17", Statement = [{ Sid = "a", Effect = "Allow", Principal = { AWS = "*" }, Action = "sns:Publish", Resource = aws_sns_topic.seed.arn }] }) # then jsonencode({ Version = "2012-10-17", Statement = [{ Sid = "a", Effect = "Deny", Principal = { AWS = "*" }, Action = "sns:Publish", Resource = aws_sns_topic.seed.arn }] })
}

resource "aws_sqs_queue" "target" {
  name = "seed-target"
}

resource "aws_sns_topic_subscription" "seed" {
  topic_arn            = aws_sns_topic.seed.arn
  protocol             = "sqs"
  endpoint             = aws_sqs_queue.target.arn
  raw_message_delivery = false                 # then true
  filter_policy        = jsonencode({ a = ["b"] }) # then jsonencode({ a = ["c"] })
  filter_policy_scope  = "MessageAttributes"   # then "MessageBody"
  redrive_policy       = jsonencode({ deadLetterTargetArn = aws_sqs_queue.target.arn }) # then null
}

resource "aws_sns_platform_application" "seed" {
  name                         = "seed"
  platform                     = "GCM"
  platform_credential          = "first"
  event_endpoint_created_topic_arn = aws_sns_topic.seed.arn # then aws_sns_topic.fifo.arn
  success_feedback_sample_rate = 10 # then 20
}

resource "aws_sns_sms_preferences" "seed" {
  default_sender_id   = "First"         # then "Second"
  default_sms_type    = "Promotional"   # then "Transactional"
  monthly_spend_limit = 1               # then 2
}
