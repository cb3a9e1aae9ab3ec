terraform {
  required_providers {
    aws = {
      source = "hashicorp/aws"
    }
  }
}

variable "delay" {
  type    = number
  default = 5
}

variable "name" {
  type    = string
  default = "alerts"
}

provider "aws" {
  region                      = "us-east-1"
  skip_credentials_validation = true
  skip_metadata_api_check     = true
}

resource "aws_sns_topic" "alerts" {
  name         = "small-${var.name}"
  display_name = "after ${var.delay}"
}

resource "aws_cloudwatch_event_rule" "nightly" {
  name                = "small-nightly"
  schedule_expression = "rate(${var.delay} days)"
}

resource "aws_ecr_repository" "app" {
  name = "small/app"
}
