variable "zones" {
  type    = list(string)
  default = ["a", "b"]
}

resource "aws_autoscaling_group" "a" {
  availability_zones = var.zones
  enabled_metrics = [
    "GroupMinSize",
    "GroupMaxSize", # kept
  ]
  suspended_processes = ["Launch", upper("x")]
  load_balancers      = []
}
