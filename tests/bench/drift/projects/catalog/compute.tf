resource "aws_launch_configuration" "small" {
  name          = "catalog-small"
  image_id      = "ami-12c6146b"
  instance_type = "t3.micro"
}

resource "aws_autoscaling_group" "fleet" {
  name               = "catalog-fleet"
  availability_zones = ["eu-west-1a"]
  min_size           = 1
  max_size           = var.fleet_max
  desired_capacity   = 2

  launch_configuration = aws_launch_configuration.small.name
}

resource "aws_autoscaling_group" "spare" {
  name                = "catalog-spare"
  availability_zones  = ["eu-west-1a"]
  min_size            = 0
  max_size            = 3
  desired_capacity    = 1
  suspended_processes = ["AZRebalance"]

  launch_configuration = aws_launch_configuration.small.name
}

resource "aws_iam_role" "worker" {
  name                 = "catalog-worker"
  max_session_duration = var.session_hours * 3600
  assume_role_policy   = jsonencode({ Version = "2012-10-17", Statement = [{ Effect = "Allow", Action = "sts:AssumeRole", Principal = { Service = "ec2.amazonaws.com" } }] })
}

resource "aws_iam_role_policy" "worker" {
  name   = "read"
  role   = aws_iam_role.worker.name
  policy = jsonencode({ Version = "2012-10-17", Statement = [{ Effect = "Allow", Action = ["s3:GetObject"], Resource = "*" }] })
}

resource "aws_ssm_parameter" "mode" {
  name  = "/catalog/mode"
  type  = "String"
  value = "normal"
}

resource "aws_dynamodb_table" "items" {
  name           = "catalog-items"
  read_capacity  = 5
  write_capacity = 5
  hash_key       = "id"

  attribute {
    name = "id"
    type = "S"
  }
}
