terraform {
  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = "~> 5.100"
    }
  }
}

provider "aws" {
  region                      = "eu-west-1"
  skip_credentials_validation = true
  skip_requesting_account_id  = true
  skip_metadata_api_check     = true
}

resource "aws_launch_template" "web" {
  name          = "web"
  image_id      = "ami-12c6146b"
  instance_type = "t3.small"
}

# The fleet that serves the shop.
resource "aws_autoscaling_group" "web" {
  name               = "web"
  availability_zones = ["eu-west-1a"]
  min_size           = 1
  max_size           = local.most # capacity plan RFC-12
  desired_capacity   = var.desired

  launch_template {
    id      = aws_launch_template.web.id
    version = "$Latest"
  }
}

resource "aws_cloudwatch_metric_alarm" "errors" {
  alarm_name          = "errors"
  namespace           = "Shop"
  metric_name         = "Errors"
  statistic           = "Sum"
  comparison_operator = "GreaterThanThreshold"
  period              = 60
  evaluation_periods  = 2
  threshold           = 100 # per minute
}

resource "aws_cloudwatch_log_group" "app" {
  name              = "/shop/app"
  retention_in_days = var.retention
}

resource "aws_cloudwatch_log_group" "team" {
  for_each          = var.teams
  name              = "/team/${each.key}"
  retention_in_days = each.value.days
}

# One value for both.
resource "aws_cloudwatch_log_group" "pair" {
  count             = 2
  name              = "/pair/${count.index}"
  retention_in_days = 14
}

module "night" {
  source   = "./modules/worker"
  name     = "night"
  sessions = 3600
}

module "day" {
  source = "./modules/worker"
  name   = "day"
}
