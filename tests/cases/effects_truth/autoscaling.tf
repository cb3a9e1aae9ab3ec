data "aws_subnets" "default" {}

resource "aws_launch_template" "seed" {
  name          = "truth-asg"
  image_id      = "ami-12c6146b"
  instance_type = "t3.micro"
}

resource "aws_launch_configuration" "seed" {
  name          = "seed"
  image_id      = "ami-12c6146b"
  instance_type = "t3.micro"
}

resource "aws_launch_configuration" "second" {
  name          = "second"
  image_id      = "ami-12c6146b"
  instance_type = "t3.small"
}

resource "aws_autoscaling_group" "seed" {
  name                      = "seed"
  min_size                  = 0 # then 1
  max_size                  = 2 # then 3
  desired_capacity          = 1 # then 2
  default_cooldown          = 100 # then 200
  health_check_grace_period = 100 # then 200
  health_check_type         = "EC2" # then "ELB"
  max_instance_lifetime     = 86400 # then 172800
  capacity_rebalance        = false # then true
  protect_from_scale_in     = false # then true
  termination_policies      = ["OldestInstance"] # then ["NewestInstance"]
  enabled_metrics           = ["GroupMinSize"] # then ["GroupMaxSize"]
  suspended_processes       = ["AlarmNotification"] # then ["AZRebalance"]
  wait_for_capacity_timeout = "0"
  launch_configuration      = aws_launch_configuration.seed.name # then aws_launch_configuration.second.name
  vpc_zone_identifier       = [data.aws_subnets.default.ids[0]] # then [data.aws_subnets.default.ids[1]]
  force_delete              = true
  tag {
    key                 = "team"
    value               = "one" # then "two"
    propagate_at_launch = true # then false
  }
}

resource "aws_autoscaling_group" "bare" {
  name               = "bare"
  min_size           = 0
  max_size           = 1
  availability_zones = ["eu-west-1a"]
  launch_template {
    id      = aws_launch_template.seed.id
    version = "$Latest" # then "1"
  }
  lifecycle {
    ignore_changes = [load_balancers, target_group_arns, tag]
  }
}

resource "aws_autoscaling_policy" "seed" {
  name                   = "seed"
  autoscaling_group_name = aws_autoscaling_group.bare.name
  policy_type            = "SimpleScaling"
  adjustment_type        = "ChangeInCapacity" # then "ExactCapacity"
  scaling_adjustment     = 1 # then 2
  cooldown               = 100 # then 200
}

resource "aws_autoscaling_policy" "tracking" {
  name                   = "tracking"
  autoscaling_group_name = aws_autoscaling_group.bare.name
  policy_type            = "TargetTrackingScaling"
  estimated_instance_warmup = 50 # then 60
  target_tracking_configuration {
    target_value     = 40 # then 50
    disable_scale_in = false # then true
    predefined_metric_specification {
      predefined_metric_type = "ASGAverageCPUUtilization" # then "ASGAverageNetworkIn"
    }
  }
}

resource "aws_autoscaling_schedule" "seed" {
  scheduled_action_name  = "seed"
  autoscaling_group_name = aws_autoscaling_group.bare.name
  min_size               = 0 # then 1
  max_size               = 1 # then 2
  desired_capacity       = 0 # then 1
  recurrence             = "0 1 * * *" # then "0 2 * * *"
  start_time             = "2036-12-11T18:00:00Z" # then "2036-12-11T19:00:00Z"
  end_time               = "2037-12-11T18:00:00Z" # then "2037-12-11T19:00:00Z"
}

resource "aws_autoscaling_lifecycle_hook" "seed" {
  name                    = "seed"
  autoscaling_group_name  = aws_autoscaling_group.bare.name
  lifecycle_transition    = "autoscaling:EC2_INSTANCE_LAUNCHING"
  default_result          = "CONTINUE" # then "ABANDON"
  heartbeat_timeout       = 100 # then 200
  notification_metadata   = "first" # then "second"
  notification_target_arn = "arn:aws:sqs:eu-west-1:123456789012:first" # then "arn:aws:sqs:eu-west-1:123456789012:second"
  role_arn                = "arn:aws:iam::123456789012:role/first" # then "arn:aws:iam::123456789012:role/second"
}

resource "aws_lb_target_group" "seed" {
  name        = "truth-asg"
  target_type = "lambda"
}

resource "aws_autoscaling_attachment" "seed" {
  autoscaling_group_name = aws_autoscaling_group.bare.id
  lb_target_group_arn    = aws_lb_target_group.seed.arn
}

resource "aws_autoscaling_group_tag" "seed" {
  autoscaling_group_name = aws_autoscaling_group.bare.name
  tag {
    key                 = "seed"
    value               = "first" # then "second"
    propagate_at_launch = false
  }
}
