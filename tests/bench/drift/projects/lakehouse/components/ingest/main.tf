resource "aws_kinesis_stream" "this" {
  for_each = var.streams

  name                = "${var.prefix}-${each.key}"
  shard_count         = each.value.shards
  retention_period    = each.value.retention_hours
  shard_level_metrics = each.value.metrics
  tags                = merge({ Stream = each.key }, each.value.tags)
}

resource "aws_cloudwatch_metric_alarm" "behind" {
  for_each = var.streams

  alarm_name          = "${var.prefix}-${each.key}-behind"
  alarm_description   = "A consumer of ${each.key} falls behind"
  namespace           = "AWS/Kinesis"
  metric_name         = "GetRecords.IteratorAgeMilliseconds"
  statistic           = "Maximum"
  comparison_operator = "GreaterThanThreshold"
  period              = 60
  evaluation_periods  = each.value.alarm.periods
  threshold           = each.value.alarm.age_ms
  alarm_actions       = var.alarm_topics

  dimensions = {
    StreamName = aws_kinesis_stream.this[each.key].name
  }
}

resource "aws_kinesis_firehose_delivery_stream" "archive" {
  name        = "${var.prefix}-archive"
  destination = "extended_s3"

  kinesis_source_configuration {
    kinesis_stream_arn = aws_kinesis_stream.this[var.delivery.stream].arn
    role_arn           = var.delivery.role_arn
  }

  extended_s3_configuration {
    role_arn           = var.delivery.role_arn
    bucket_arn         = var.delivery.bucket_arn
    prefix             = "raw/${var.delivery.stream}/"
    buffering_size     = var.delivery.buffer.size_mb
    buffering_interval = var.delivery.buffer.seconds
    compression_format = var.delivery.compression
  }
}
