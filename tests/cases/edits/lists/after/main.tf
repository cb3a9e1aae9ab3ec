variable "zones" {
  type    = list(string)
  default = ["b", "c", "d"]
}

resource "aws_autoscaling_group" "a" {
  availability_zones = var.zones
  enabled_metrics = [
    "GroupMaxSize", # kept
    "GroupTotal",
  ]
  suspended_processes = ["Launch", upper("x")]
  load_balancers      = ["x"]
}
