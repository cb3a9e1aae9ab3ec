variable "namespace" {
  type = string
}

variable "stage" {
  type = string
}

variable "tags" {
  type = map(string)
}

locals {
  workers = yamldecode(file("${path.module}/config/workers.yaml")).workers
  limits  = jsondecode(file("${path.module}/config/limits.json"))
}

module "this" {
  source    = "../../modules/label"
  namespace = var.namespace
  stage     = var.stage
  tags      = var.tags
}

module "worker" {
  source   = "../../modules/worker"
  for_each = local.workers
  context  = module.this.context
  name     = each.key
  settings = each.value
}

module "night" {
  source   = "../../modules/worker"
  context  = module.this.context
  name     = "night"
  settings = { timeout = 120 }
  tags     = { Team = "night" }
}

resource "aws_sns_topic" "this" {
  for_each     = local.limits.topics
  name         = "live-${each.key}"
  display_name = each.value
}

resource "aws_iam_role" "session" {
  count                = 2
  name                 = "live-session-${count.index}"
  max_session_duration = local.limits.sessions
  assume_role_policy   = jsonencode({ Version = "2012-10-17", Statement = [{ Effect = "Allow", Action = "sts:AssumeRole", Principal = { Service = "ec2.amazonaws.com" } }] })
}

resource "aws_launch_template" "pinned" {
  name          = "live-pinned"
  image_id      = "ami-12c6146b"
  instance_type = "t3.micro"
}

resource "aws_launch_template" "following" {
  name          = "live-following"
  image_id      = "ami-12c6146b"
  instance_type = "t3.micro"
}
