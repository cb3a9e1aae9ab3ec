resource "aws_kinesis_stream" "seed" {
  name                      = "seed"
  shard_count               = 1 # then 2
  retention_period          = 24 # then 48
  shard_level_metrics       = ["IncomingBytes"] # then ["OutgoingBytes"]
  enforce_consumer_deletion = true
  encryption_type           = "KMS"
  kms_key_id                = "alias/aws/kinesis"
  tags                      = { team = "one", kept = "yes" } # then { team = "two", added = "yes" }
}

resource "aws_kinesis_stream" "ondemand" {
  name = "ondemand"
  stream_mode_details {
    stream_mode = "ON_DEMAND"
  }
}

resource "aws_kinesis_stream_consumer" "seed" {
  name       = "seed"
  stream_arn = aws_kinesis_stream.seed.arn
}

resource "aws_kinesis_resource_policy" "seed" {
  resource_arn = aws_kinesis_stream.seed.arn
  policy       = jsonencode({ Version = "2012-10-17", Statement = [{ Sid = "a", Effect = "Allow", Principal = { AWS = "123456789012" }, Action = ["kinesis:DescribeStreamSummary"], Resource = aws_kinesis_stream.seed.arn }] }) # then jsonencode({ Version = "2012-10-17", Statement = [{ Sid = "b", Effect = "Allow", Principal = { AWS = "123456789012" }, Action = ["kinesis:DescribeStreamSummary"], Resource = aws_kinesis_stream.seed.arn }] })
}

resource "aws_kinesis_firehose_delivery_stream" "seed" {
  name        = "seed"
  destination = "extended_s3"
  extended_s3_configuration {
    role_arn            = "arn:aws:iam::123456789012:role/first" # then "arn:aws:iam::123456789012:role/second"
    bucket_arn          = "arn:aws:s3:::first" # then "arn:aws:s3:::second"
    prefix              = "a/" # then "b/"
    error_output_prefix = "e/" # then "f/"
    buffering_size      = 5 # then 10
    buffering_interval  = 100 # then 200
    compression_format  = "GZIP" # then "UNCOMPRESSED"
  }
  tags = { team = "one" } # then { team = "two" }
}

resource "aws_kinesis_video_stream" "seed" {
  name                    = "seed"
  data_retention_in_hours = 1
  device_name             = "first"
  media_type              = "video/h264"
  tags                    = { team = "one" } # then { team = "two" }
}
