# A resource of which no row knows any call.

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

resource "aws_ami_from_instance" "main" {
  name               = "unknown"
  source_instance_id = "i-0123456789abcdef0"
}
