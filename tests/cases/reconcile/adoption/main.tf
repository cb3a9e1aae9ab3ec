# A shop's orders: what others create beside it either belongs to one of these resources, or to nobody here.
terraform {
  required_providers {
    aws = {
      source = "hashicorp/aws"
    }
  }
}

provider "aws" {
  region                      = "eu-west-1"
  s3_use_path_style           = true
  skip_credentials_validation = true
  skip_metadata_api_check     = true
  skip_requesting_account_id  = false
}

resource "aws_vpc" "main" {
  cidr_block = "10.20.0.0/16"
}

resource "aws_subnet" "a" {
  vpc_id     = aws_vpc.main.id
  cidr_block = "10.20.1.0/24"
}

resource "aws_security_group" "app" {
  name        = "orders-app"
  description = "The application"
  vpc_id      = aws_vpc.main.id
}

resource "aws_security_group_rule" "https" {
  type              = "ingress"
  security_group_id = aws_security_group.app.id
  protocol          = "tcp"
  from_port         = 443
  to_port           = 443
  cidr_blocks       = ["10.0.0.0/8"]
}

resource "aws_security_group" "inline" {
  name        = "orders-inline"
  description = "Has its rules inside"
  vpc_id      = aws_vpc.main.id

  ingress {
    protocol    = "tcp"
    from_port   = 80
    to_port     = 80
    cidr_blocks = ["10.0.0.0/8"]
  }
}

resource "aws_sns_topic" "events" {
  name = "order-events"
}

resource "aws_s3_bucket" "archive" {
  bucket = "order-archive"
}

resource "aws_iam_role" "worker" {
  name = "order-worker"
  assume_role_policy = jsonencode({
    Version   = "2012-10-17"
    Statement = [{ Effect = "Allow", Action = "sts:AssumeRole", Principal = { Service = "lambda.amazonaws.com" } }]
  })
}

resource "aws_cloudwatch_log_group" "app" {
  name = "/orders/app"
}

resource "aws_cloudwatch_event_rule" "nightly" {
  name                = "orders-nightly"
  schedule_expression = "rate(1 day)"
}

resource "aws_launch_template" "web" {
  name          = "orders-web"
  image_id      = "ami-12c6146b"
  instance_type = "t3.nano"
}

resource "aws_autoscaling_group" "web" {
  name                = "orders-web"
  min_size            = 0
  max_size            = 3
  vpc_zone_identifier = [aws_subnet.a.id]

  launch_template {
    id      = aws_launch_template.web.id
    version = "$Latest"
  }
}
