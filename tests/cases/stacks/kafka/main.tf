resource "aws_launch_template" "kafka_consumer" {
  name          = local.name
  instance_type = "m6i.large"

  vpc_security_group_ids = [aws_security_group.kafka_consumer.id]
}

resource "aws_autoscaling_group" "kafka_consumer" {
  name             = "kafka-consumer-processor-asg"
  min_size         = 2
  max_size         = 16
  desired_capacity = var.consumers

  launch_template {
    id      = aws_launch_template.kafka_consumer.id
    version = "$Latest"
  }

  lifecycle {
    postcondition {
      condition     = self.desired_capacity <= self.max_size
      error_message = "More consumers are wanted than the group may hold."
    }
  }
}

resource "aws_autoscaling_policy" "scale_up_lag" {
  name                   = "kafka-lag-scaler"
  autoscaling_group_name = aws_autoscaling_group.kafka_consumer.name
  scaling_adjustment     = 2
}

resource "aws_cloudwatch_metric_alarm" "lag" {
  alarm_name    = "HighConsumerLagAlarm"
  threshold     = 100000
  alarm_actions = [aws_autoscaling_policy.scale_up_lag.arn]
}

resource "aws_security_group" "kafka_consumer" {
  name = local.name

  ingress {
    from_port   = 8443
    to_port     = 8443
    protocol    = "tcp"
    cidr_blocks = ["10.0.0.0/8"]
  }

  tags = local.tags
}

resource "aws_dynamodb_table" "offsets" {
  name     = "kafka-offsets"
  hash_key = "partition"
}

resource "aws_iam_role" "rebalancer" {
  name = "kafka-rebalancer"
}

resource "aws_lambda_function" "rebalancer" {
  function_name = "kafka-rebalancer"
  role          = aws_iam_role.rebalancer.arn
  memory_size   = 256

  environment {
    variables = {
      OFFSETS = aws_dynamodb_table.offsets.name
    }
  }
}

resource "aws_db_instance" "reports" {
  identifier        = "kafka-reports"
  instance_class    = "db.t3.medium"
  allocated_storage = 100
  password          = var.reports_password
}

resource "aws_cloudwatch_log_group" "consumer" {
  for_each = var.log_groups

  name              = "/kafka/consumer/${each.key}"
  retention_in_days = each.value.retention
}

resource "aws_sqs_queue" "shard" {
  count = 2

  name                       = "kafka-shard-${count.index}"
  visibility_timeout_seconds = 30
}

resource "aws_sqs_queue" "audit" {
  name                       = "${local.name}-audit"
  visibility_timeout_seconds = 60
}

# The same module twice.
module "retry" {
  source = "./modules/worker"

  name       = "kafka-retry"
  visibility = 60
}

module "archive" {
  source   = "./modules/worker"
  for_each = toset(["hot", "cold"])

  name       = "kafka-archive-${each.key}"
  visibility = 300
}
