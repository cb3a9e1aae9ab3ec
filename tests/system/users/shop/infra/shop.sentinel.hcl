# What agents may change of the shop. Terraform ignores this file.
contract "shop" {
  owner = "team-shop"

  resource "aws_ecs_service" "*" {
    managed_by_agent = true

    attribute "desired_count" {
      min = 1
      max = 6
    }
  }

  resource "aws_sqs_queue" "*" {
    managed_by_agent = true

    attribute "visibility_timeout_seconds" {
      min = 10
      max = 600
    }
  }

  resource "aws_cloudwatch_log_group" "*" {
    managed_by_agent = true
    allow_delete     = true

    attribute "retention_in_days" {
      one_of = [7, 14, 30, 60, 90]
    }
  }

  resource "aws_cloudwatch_event_rule" "nightly" {
    managed_by_agent = true
    mutable          = ["state", "is_enabled", "schedule_expression", "description"]
  }

  resource "aws_ssm_parameter" "log_level" {
    managed_by_agent = true
    mutable          = ["value"]
  }

  resource "aws_db_instance" "orders" {
    critical       = true
    prevent_delete = true
  }
}
