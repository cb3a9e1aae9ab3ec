resource "aws_launch_template" "node" {
  name                   = "${local.name}-node"
  image_id               = "ami-12c6146b"
  instance_type          = "m5.large"
  update_default_version = true
}

resource "aws_autoscaling_group" "node" {
  for_each = local.capacity

  name                = "${local.name}-${each.key}"
  min_size            = each.value.min
  max_size            = each.value.max
  desired_capacity    = each.value.desired
  vpc_zone_identifier = aws_subnet.private[*].id

  launch_template {
    id      = aws_launch_template.node.id
    version = "$Latest"
  }
}

resource "aws_autoscaling_group" "runner" {
  name                = "${local.name}-runner"
  min_size            = 0
  max_size            = var.runner_max
  desired_capacity    = 1
  vpc_zone_identifier = aws_subnet.private[*].id

  launch_template {
    id      = aws_launch_template.node.id
    version = "$Latest"
  }
}

resource "aws_instance" "jump" {
  ami           = "ami-12c6146b"
  instance_type = "t3.nano"
  subnet_id     = aws_subnet.private[0].id

  tags = { Name = "${local.name}-jump" }
}

module "repository" {
  source   = "./vendor/repository"
  for_each = toset(["web", "orders", "billing", "legacy"])

  name = "${local.name}/${each.key}"
}

resource "aws_s3_bucket" "artifacts" {
  bucket = "${local.name}-artifacts"
}
