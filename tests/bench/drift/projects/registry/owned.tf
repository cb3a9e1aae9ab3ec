# Values that somebody else than this code owns.

resource "aws_launch_template" "scaled" {
  name          = "registry-scaled"
  image_id      = "ami-12c6146b"
  instance_type = "t3.micro"
}

resource "aws_autoscaling_group" "scaled" {
  name               = "registry-scaled"
  availability_zones = ["eu-west-1a"]
  min_size           = 1
  max_size           = 10
  desired_capacity   = 2

  launch_template {
    id      = aws_launch_template.scaled.id
    version = "$Latest"
  }

  lifecycle {
    ignore_changes = [desired_capacity]
  }
}

resource "aws_secretsmanager_secret" "token" {
  name = "registry/token"
}

resource "aws_secretsmanager_secret_version" "token" {
  secret_id     = aws_secretsmanager_secret.token.id
  secret_string = "to be replaced by hand"
}
