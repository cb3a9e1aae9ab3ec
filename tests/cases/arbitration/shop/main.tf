# A web shop: what the decided cases are about. None of it exists.
resource "aws_launch_template" "web" {
  name          = "shop-web"
  instance_type = "m6i.large"
}

resource "aws_autoscaling_group" "web" {
  name             = "shop-web"
  min_size         = 2
  max_size         = 20
  desired_capacity = 4

  launch_template {
    id      = aws_launch_template.web.id
    version = "$Latest"
  }
}

resource "aws_autoscaling_policy" "web_up" {
  name                   = "shop-web-up"
  autoscaling_group_name = aws_autoscaling_group.web.name
  scaling_adjustment     = 2
}

resource "aws_cloudwatch_metric_alarm" "latency" {
  alarm_name    = "shop-latency"
  threshold     = 500
  alarm_actions = [aws_autoscaling_policy.web_up.arn]
}

resource "aws_db_instance" "orders" {
  identifier              = "shop-orders"
  instance_class          = "db.m6g.large"
  allocated_storage       = 100
  iops                    = 3000
  backup_retention_period = 14
}

resource "aws_lambda_function" "thumbnails" {
  function_name                  = "shop-thumbnails"
  memory_size                    = 512
  timeout                        = 30
  reserved_concurrent_executions = 10
}

resource "aws_dynamodb_table" "carts" {
  name           = "shop-carts"
  hash_key       = "id"
  billing_mode   = "PROVISIONED"
  read_capacity  = 50
  write_capacity = 20
}

resource "aws_sqs_queue" "mail" {
  name                       = "shop-mail"
  visibility_timeout_seconds = 30

  tags = {
    owner = "checkout"
  }
}

resource "aws_cloudwatch_log_group" "access" {
  name              = "/shop/access"
  retention_in_days = 30
}
