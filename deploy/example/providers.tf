terraform {
  required_version = ">= 1.5"

  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = "~> 5.100"
    }
  }
}

# Credentials and endpoint come from the environment: a key issued by Sentinel, and AWS_ENDPOINT_URL with Sentinel's URL.
provider "aws" {
  region = var.region
}
