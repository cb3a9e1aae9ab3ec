resource "aws_launch_template" "kafka_consumer" {
  name          = local.name
  image_id      = "ami-0c55b159cbfafe1f0"
  instance_type = "m6i.large"

  vpc_security_group_ids = [aws_security_group.kafka_consumer.id]
}

resource "aws_autoscaling_group" "kafka_consumer" {
  name               = "kafka-consumer-processor-asg"
  availability_zones = ["${var.region}a", "${var.region}b"]

  min_size         = 2
  max_size         = 16
  desired_capacity = var.consumers

  launch_template {
    id      = aws_launch_template.kafka_consumer.id
    version = "$Latest"
  }
}

resource "aws_autoscaling_policy" "scale_up_lag" {
  name                   = "kafka-lag-scaler"
  autoscaling_group_name = aws_autoscaling_group.kafka_consumer.name
  adjustment_type        = "ChangeInCapacity"
  scaling_adjustment     = 2
  cooldown               = 300
}

resource "aws_cloudwatch_metric_alarm" "lag" {
  alarm_name          = "HighConsumerLagAlarm"
  alarm_description   = "Consumers are falling behind."
  namespace           = "Kafka"
  metric_name         = "ConsumerLag"
  statistic           = "Maximum"
  comparison_operator = "GreaterThanThreshold"
  period              = 60
  evaluation_periods  = 3
  threshold           = 100000 # messages; above this the group scales

  dimensions = {
    ConsumerGroup = local.name
  }

  alarm_actions = [aws_autoscaling_policy.scale_up_lag.arn]
}

resource "aws_security_group" "kafka_consumer" {
  name        = local.name
  description = "Consumers talk to the brokers and answer health checks."

  ingress {
    description = "health checks"
    from_port   = 8443
    to_port     = 8443
    protocol    = "tcp"
    cidr_blocks = ["10.0.0.0/8"]
  }

  egress {
    description = "brokers"
    from_port   = 9094
    to_port     = 9094
    protocol    = "tcp"
    cidr_blocks = ["10.0.0.0/8"]
  }

  tags = local.tags
}
