variable "create_db_instance" {
  type    = bool
  default = true
}

variable "identifier" {
  type = string
}

variable "instance_class" {
  type    = string
  default = "db.t3.medium"
}

variable "allocated_storage" {
  type    = number
  default = 20
}

variable "multi_az" {
  type    = bool
  default = false
}

variable "deletion_protection" {
  type    = bool
  default = false
}

variable "publicly_accessible" {
  type    = bool
  default = false
}

variable "auto_minor_version_upgrade" {
  type    = bool
  default = null
}

variable "tags" {
  type    = map(string)
  default = {}
}

resource "aws_db_instance" "this" {
  count = var.create_db_instance ? 1 : 0

  identifier                  = var.identifier
  engine                      = "postgres"
  engine_version              = "15.4"
  instance_class              = var.instance_class
  allocated_storage           = var.allocated_storage
  db_name                     = "shop"
  username                    = "shop"
  manage_master_user_password = true
  multi_az                    = var.multi_az
  publicly_accessible         = var.publicly_accessible
  deletion_protection         = var.deletion_protection
  auto_minor_version_upgrade  = coalesce(var.auto_minor_version_upgrade, true)
  skip_final_snapshot         = true
  apply_immediately           = true
  tags                        = var.tags
}

# The module's own log of slow queries.
resource "aws_cloudwatch_log_group" "slow" {
  count = var.create_db_instance ? 1 : 0

  name              = "/rds/${var.identifier}/slow"
  retention_in_days = 7
}

output "identifier" {
  value = try(aws_db_instance.this[0].identifier, null)
}
