# The same shop for developers. Its layer of the priorities ranks cost above availability (`layers.json`).
resource "aws_autoscaling_group" "dev_web" {
  name             = "dev-web"
  min_size         = 0
  max_size         = 6
  desired_capacity = 2
}

resource "aws_sqs_queue" "dev_mail" {
  name                       = "dev-mail"
  visibility_timeout_seconds = 30
}

resource "aws_cloudwatch_metric_alarm" "dev_latency" {
  alarm_name = "dev-latency"
  threshold  = 500
}
