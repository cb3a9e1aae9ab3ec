# The contract of this stack. Only its owners may change it (CODEOWNERS); Terraform ignores it, Sentinel reads it.
contract "kafka" {
  owner = "team-streaming"

  resource "aws_autoscaling_group" "kafka_consumer" {
    managed_by_agent = true

    attribute "desired_capacity" {
      min      = self.min_size
      max      = self.max_size
      max_step = 4
    }

    attribute "max_size" {
      max = var.environment == "prod" ? 16 : 6 # capacity plan RFC-12
    }
  }

  resource "aws_cloudwatch_metric_alarm" "*" {
    managed_by_agent = true

    attribute "threshold" {
      min = 1000
      max = 1000000
    }
  }

  resource "aws_security_group" "*" {
    managed_by_agent = true
    immutable        = ["name"]

    attribute "ingress" {
      cidr_within  = ["10.0.0.0/8"]
      ports        = [443, 8443]
      forbid_world = true
    }
  }

  resource "aws_sqs_queue" "*" {
    managed_by_agent = true
    mutable          = ["tags.owner"]

    attribute "visibility_timeout_seconds" {
      min = 0
      max = local.longest_visibility
    }
  }

  resource "aws_cloudwatch_log_group" "consumer" {
    managed_by_agent = true

    attribute "retention_in_days" {
      one_of = [7, 14, 30, 60, 90]
    }
  }

  resource "aws_dynamodb_table" "*" {
    critical       = true
    prevent_delete = true
  }

  resource "aws_lambda_function" "*" {
    critical = true
  }

  enforce {
    condition     = self.max_size <= 32
    error_message = "Capacity plan RFC-12 ends at 32 brokers, not ${self.max_size}."
  }
}
