resource "aws_autoscaling_group" "a" {
  desired_capacity = 4
  max_size         = 10
  tags             = { a = "1" }

  lifecycle {
    ignore_changes = [desired_capacity, tags["a"]]
  }
}

resource "aws_autoscaling_group" "b" {
  max_size = 9

  lifecycle {
    ignore_changes = all
  }
}
