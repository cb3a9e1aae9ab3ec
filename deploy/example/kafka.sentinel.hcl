# The contract of this stack. Sentinel reads it, Terraform ignores it, and Sentinel never changes it.
contract "kafka" {
  owner = "team-streaming"

  resource "aws_autoscaling_group" "kafka_consumer" {
    managed_by_agent = true

    attribute "desired_capacity" {
      min      = self.min_size
      max      = self.max_size
      max_step = 10
    }
  }

  resource "aws_cloudwatch_metric_alarm" "*" {
    managed_by_agent = true

    attribute "threshold" {
      min = 1000
      max = 1000000
    }
  }

  resource "aws_security_group" "kafka_consumer" {
    managed_by_agent = true
    mutable          = ["ingress"]
  }

  resource "aws_sqs_queue" "*" {
    managed_by_agent = true

    attribute "visibility_timeout_seconds" {
      min = 0
      max = 900
    }
  }

  resource "aws_cloudwatch_log_group" "*" {
    managed_by_agent = true

    attribute "retention_in_days" {
      one_of = [7, 14, 30, 60, 90]
    }
  }

  resource "aws_dynamodb_table" "*" {
    managed_by_agent = true
    critical         = true
    prevent_delete   = true
  }

  enforce {
    condition     = self.max_size <= 32
    error_message = "Capacity plan RFC-12 ends at 32 brokers."
  }
}
