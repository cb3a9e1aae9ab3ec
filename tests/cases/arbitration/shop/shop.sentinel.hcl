# Every actor may change all of it, so that only arbitration decides the cases.
contract "shop" {
  owner = "team-shop"

  resource "aws_launch_template" "*" {
    managed_by_agent = true
    mutable          = ["instance_type"]
  }

  resource "aws_autoscaling_group" "*" {
    managed_by_agent = true
    allow_delete     = true
    allow_invoke     = ["StartInstanceRefresh"]

    attribute "desired_capacity" {
      min = self.min_size
      max = self.max_size
    }

    attribute "max_size" {
      max = 20
    }

    attribute "min_size" {
      min = 1
    }
  }

  resource "aws_autoscaling_policy" "*" {
    managed_by_agent = true
    allow_delete     = true
    mutable          = ["scaling_adjustment"]
  }

  resource "aws_cloudwatch_metric_alarm" "*" {
    managed_by_agent = true
    allow_delete     = true
    mutable          = ["threshold", "alarm_actions"]
  }

  resource "aws_db_instance" "*" {
    managed_by_agent = true
    mutable          = ["instance_class", "allocated_storage", "iops", "backup_retention_period"]
  }

  resource "aws_lambda_function" "*" {
    managed_by_agent = true
    mutable          = ["memory_size", "timeout", "reserved_concurrent_executions"]
  }

  resource "aws_dynamodb_table" "*" {
    managed_by_agent = true
    mutable          = ["read_capacity", "write_capacity", "billing_mode"]
  }

  resource "aws_sqs_queue" "*" {
    managed_by_agent = true
    allow_delete     = true
    mutable          = ["visibility_timeout_seconds", "tags"]
  }

  resource "aws_cloudwatch_log_group" "*" {
    managed_by_agent = true
    mutable          = ["retention_in_days"]
  }
}
