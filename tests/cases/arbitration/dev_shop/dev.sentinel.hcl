contract "dev-shop" {
  owner = "team-shop"

  resource "aws_autoscaling_group" "*" {
    managed_by_agent = true

    attribute "desired_capacity" {
      min = self.min_size
      max = self.max_size
    }
  }

  resource "aws_cloudwatch_metric_alarm" "*" {
    managed_by_agent = true
    allow_delete     = true
  }

  resource "aws_sqs_queue" "*" {
    managed_by_agent = true
    mutable          = ["visibility_timeout_seconds"]
  }
}
