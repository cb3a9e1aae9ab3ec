terraform {
  required_providers {
    aws = {
      source = "hashicorp/aws"
    }
  }
}

provider "aws" {
  region                      = "us-east-1"
  s3_use_path_style           = true
  skip_credentials_validation = true
  skip_metadata_api_check     = true
  skip_requesting_account_id  = false

  default_tags {
    tags = { managed = "terraform" }
  }
}

resource "aws_sqs_queue" "orders" {
  name                      = "ordinary-orders"
  delay_seconds             = 5
  message_retention_seconds = 86400
  tags                      = { team = "shop" }
}

resource "aws_sns_topic" "alerts" {
  name = "ordinary-alerts"
}

resource "aws_sns_topic_subscription" "alerts" {
  topic_arn = aws_sns_topic.alerts.arn
  protocol  = "sqs"
  endpoint  = aws_sqs_queue.orders.arn
}

resource "aws_dynamodb_table" "carts" {
  name         = "ordinary-carts"
  billing_mode = "PAY_PER_REQUEST"
  hash_key     = "id"

  attribute {
    name = "id"
    type = "S"
  }
}

resource "aws_s3_bucket" "uploads" {
  bucket = "ordinary-uploads"
}

resource "aws_s3_bucket_versioning" "uploads" {
  bucket = aws_s3_bucket.uploads.id

  versioning_configuration {
    status = "Enabled"
  }
}

resource "aws_s3_bucket_public_access_block" "uploads" {
  bucket                  = aws_s3_bucket.uploads.id
  block_public_acls       = true
  block_public_policy     = true
  ignore_public_acls      = true
  restrict_public_buckets = true
}

resource "aws_cloudwatch_log_group" "app" {
  name              = "/ordinary/app"
  retention_in_days = 30
}

resource "aws_ssm_parameter" "limit" {
  name  = "/ordinary/limit"
  type  = "String"
  value = "42"
}

resource "aws_iam_role" "app" {
  name = "ordinary-app"
  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Action    = "sts:AssumeRole"
      Principal = { Service = "ecs-tasks.amazonaws.com" }
    }]
  })
}

resource "aws_iam_role_policy" "app" {
  name = "queue"
  role = aws_iam_role.app.id
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect   = "Allow"
      Action   = ["sqs:SendMessage", "sqs:ReceiveMessage"]
      Resource = "arn:aws:sqs:us-east-1:123456789012:ordinary-orders"
    }]
  })
}

resource "aws_kms_key" "data" {
  description             = "ordinary data"
  deletion_window_in_days = 7
}

resource "aws_cloudwatch_metric_alarm" "lag" {
  alarm_name          = "ordinary-lag"
  comparison_operator = "GreaterThanThreshold"
  evaluation_periods  = 2
  metric_name         = "ApproximateAgeOfOldestMessage"
  namespace           = "AWS/SQS"
  period              = 60
  statistic           = "Maximum"
  threshold           = 300
  dimensions          = { QueueName = aws_sqs_queue.orders.name }
}
