# Two resources, of which one is made after the other.

terraform {
  required_providers {
    aws = {
      source = "hashicorp/aws"
    }
  }
}

provider "aws" {
  region                      = "us-east-1"
  skip_credentials_validation = true
  skip_metadata_api_check     = true
}

resource "aws_sns_topic" "first" {
  name = "interrupted-first"
}

resource "aws_ecr_repository" "second" {
  name       = "interrupted/second"
  depends_on = [aws_sns_topic.first]
}
