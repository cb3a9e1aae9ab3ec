resource "aws_sqs_queue" "seed" {
  name                              = "seed"
  delay_seconds                     = 5             # then 10
  max_message_size                  = 2048          # then 4096
  message_retention_seconds         = 86400         # then 172800
  receive_wait_time_seconds         = 1             # then 3
  visibility_timeout_seconds        = 40            # then 50
  kms_master_key_id                 = "alias/first" # then "alias/second"
  kms_data_key_reuse_period_seconds = 300           # then 600
  redrive_policy                    = jsonencode({ deadLetterTargetArn = aws_sqs_queue.dead.arn, maxReceiveCount = 3 }) # then jsonencode({ deadLetterTargetArn = aws_sqs_queue.dead.arn, maxReceiveCount = 6 })
  tags                              = { team = "one", kept = "yes" } # then { team = "two", added = "yes" }
}

resource "aws_sqs_queue" "fifo" {
  name                        = "seed.fifo"
  fifo_queue                  = true
  content_based_deduplication = false             # then true
  deduplication_scope         = "queue"           # then "messageGroup"
  fifo_throughput_limit       = "perQueue"        # then "perMessageGroupId"
  sqs_managed_sse_enabled     = false             # then true
}

resource "aws_sqs_queue" "dead" {
  name = "seed-dead"
}

resource "aws_sqs_queue_policy" "seed" {
  queue_url = aws_sqs_queue.seed.id
  policy    = jsonencode({ Version = "2012-10-17", Statement = [{ Effect = "Allow", Principal = "*", Action = "sqs:SendMessage", Resource = aws_sqs_queue.seed.arn }] }) # then jsonencode({ Version = "2012-10-17", Statement = [{ Effect = "Deny", Principal = "*", Action = "sqs:SendMessage", Resource = aws_sqs_queue.seed.arn }] })
}

resource "aws_sqs_queue" "other" {
  name = "seed-other"
}

resource "aws_sqs_queue_redrive_policy" "seed" {
  queue_url      = aws_sqs_queue.other.id
  redrive_policy = jsonencode({ deadLetterTargetArn = aws_sqs_queue.dead.arn, maxReceiveCount = 4 }) # then jsonencode({ deadLetterTargetArn = aws_sqs_queue.dead.arn, maxReceiveCount = 8 })
}

resource "aws_sqs_queue_redrive_allow_policy" "seed" {
  queue_url            = aws_sqs_queue.dead.id
  redrive_allow_policy = jsonencode({ redrivePermission = "byQueue", sourceQueueArns = [aws_sqs_queue.seed.arn] }) # then jsonencode({ redrivePermission = "byQueue", sourceQueueArns = [aws_sqs_queue.other.arn] })
}
