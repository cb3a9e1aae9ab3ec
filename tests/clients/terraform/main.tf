# One resource for each call; the test applies those that pass together, and those that do not. The endpoint comes from the environment.
terraform {
  required_providers {
    aws = {
      source = "hashicorp/aws"
    }
  }
}

variable "keys" {
  type = map(object({ id = string, secret = string }))
}

variable "retention" {
  type    = number
  default = 14
}

variable "file" {
  type = string
}

provider "aws" {
  alias             = "agent"
  region            = "us-east-1"
  access_key        = var.keys.agent.id
  secret_key        = var.keys.agent.secret
  max_retries       = 5
  s3_use_path_style = true
}

provider "aws" {
  alias             = "session"
  region            = "us-east-1"
  access_key        = var.keys.session.id
  secret_key        = var.keys.session.secret
  max_retries       = 5
  s3_use_path_style = true
}

provider "aws" {
  alias             = "app"
  region            = "us-east-1"
  access_key        = var.keys.app.id
  secret_key        = var.keys.app.secret
  max_retries       = 5
  s3_use_path_style = true
}

provider "aws" {
  alias             = "pipeline"
  region            = "us-east-1"
  access_key        = var.keys.pipeline.id
  secret_key        = var.keys.pipeline.secret
  max_retries       = 5
  s3_use_path_style = true
}

data "aws_sqs_queue" "read" {
  provider = aws.agent
  name     = "kafka-shard-0"
}

output "queue" {
  value = data.aws_sqs_queue.read.url
}

import {
  to = aws_cloudwatch_log_group.agent
  id = "/kafka/consumer/ingest"
}

resource "aws_cloudwatch_log_group" "agent" {
  provider          = aws.agent
  name              = "/kafka/consumer/ingest"
  retention_in_days = var.retention
}

import {
  to = aws_cloudwatch_log_group.session
  id = "/kafka/consumer/ingest"
}

resource "aws_cloudwatch_log_group" "session" {
  provider          = aws.session
  name              = "/kafka/consumer/ingest"
  retention_in_days = 60
}

resource "aws_autoscaling_notification" "held" {
  provider      = aws.agent
  group_names   = ["kafka-consumer-processor-asg"]
  topic_arn     = "arn:aws:sns:us-east-1:123456789012:kafka"
  notifications = ["autoscaling:EC2_INSTANCE_LAUNCH"]
}

resource "aws_s3_object" "upload" {
  provider = aws.app
  bucket   = "uploads"
  key      = "terraform"
  source   = var.file
}

resource "aws_dynamodb_table_item" "item" {
  provider   = aws.app
  table_name = "kafka-offsets"
  hash_key   = "partition"
  item       = jsonencode({ partition = { S = "terraform" } })
}

data "aws_s3_objects" "pages" {
  provider = aws.app
  bucket   = "pages"
}

output "pages" {
  value = length(data.aws_s3_objects.pages.keys)
}

# The provider waits until the new bucket exists.
resource "aws_s3_bucket" "waiter" {
  provider = aws.pipeline
  bucket   = "made-by-terraform"
}
