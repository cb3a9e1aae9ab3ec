locals {
  tags = { Environment = var.environment, Layer = "data" }
}

data "terraform_remote_state" "network" {
  backend = "local"

  config = {
    path = "${path.module}/../10-network/terraform.tfstate"
  }
}

resource "aws_dynamodb_table" "this" {
  for_each = var.tables

  name                        = "${var.environment}-${each.key}"
  billing_mode                = "PAY_PER_REQUEST"
  hash_key                    = each.value.key
  deletion_protection_enabled = coalesce(each.value.protected, var.protect)
  stream_enabled              = each.value.stream != null
  stream_view_type            = each.value.stream
  tags                        = merge(local.tags, lookup(var.teams, each.value.team, {}), each.value.tags)

  attribute {
    name = each.value.key
    type = "S"
  }

  point_in_time_recovery {
    enabled = each.value.recovery
  }

  dynamic "ttl" {
    for_each = each.value.expires[*]

    content {
      enabled        = true
      attribute_name = ttl.value
    }
  }
}

module "buckets" {
  source = "../vendor/s3/wrappers"

  items = { for name, bucket in var.buckets : name => merge({ bucket = "acme-${var.environment}-${name}" }, bucket) }
  defaults = {
    tags = local.tags
  }
}

resource "aws_ssm_parameter" "setting" {
  for_each = var.settings

  name  = "/${each.key}"
  type  = "String"
  value = each.value
  tags  = local.tags
}

resource "aws_db_subnet_group" "this" {
  name       = var.environment
  subnet_ids = data.terraform_remote_state.network.outputs.subnet_ids["data"]
  tags       = local.tags
}

resource "aws_db_instance" "this" {
  identifier                  = "${var.environment}-billing"
  engine                      = "postgres"
  engine_version              = "15.4"
  instance_class              = "db.t3.medium"
  allocated_storage           = 50
  username                    = "billing"
  manage_master_user_password = true
  db_subnet_group_name        = aws_db_subnet_group.this.name
  backup_retention_period     = var.backup_days
  multi_az                    = var.environment == "production"
  skip_final_snapshot         = true
  apply_immediately           = true
  tags                        = merge(local.tags, var.teams["billing"])
}
