terraform {
  required_version = ">= 1.5"

  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = "~> 5.100"
    }
  }
}

provider "aws" {
  region = "us-east-1"

  default_tags {
    tags = { team = "shop" }
  }
}

variable "api_tasks" {
  description = "How many tasks the API runs when nothing unusual happens."
  type        = number
  default     = 2
}

# The service and the queues come from modules that stand beside this root.
resource "aws_ecs_cluster" "shop" {
  name = "shop"
}

module "api" {
  source = "../modules/service"

  name            = "shop-api"
  cluster         = aws_ecs_cluster.shop.arn
  tasks           = var.api_tasks
  subnets         = [for subnet in aws_subnet.shop : subnet.id]
  security_groups = [aws_security_group.api.id]
}

module "jobs" {
  source   = "../modules/queue"
  for_each = { orders = 30, refunds = 60 }

  name       = "shop-${each.key}"
  visibility = each.value
}
