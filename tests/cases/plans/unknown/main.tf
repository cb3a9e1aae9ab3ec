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

resource "aws_cognito_risk_configuration" "main" {
  user_pool_id = "us-east-1_Ab129faBb"
  risk_exception_configuration {
    blocked_ip_range_list = ["10.10.10.10/32"]
  }
}
