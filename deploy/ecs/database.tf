resource "aws_db_subnet_group" "ledger" {
  name       = "${var.name}-ledger"
  subnet_ids = var.private_subnet_ids
  tags       = var.tags
}

resource "aws_db_parameter_group" "ledger" {
  name_prefix = "${var.name}-ledger-"
  family      = "postgres17"
  tags        = var.tags

  # A record is durable before its change is sent.
  parameter {
    name  = "synchronous_commit"
    value = "on"
  }

  parameter {
    name  = "rds.force_ssl"
    value = "1"
  }

  lifecycle {
    create_before_destroy = true
  }
}

resource "aws_db_instance" "ledger" {
  identifier     = "${var.name}-ledger"
  engine         = "postgres"
  engine_version = "17"
  instance_class = var.database_class

  db_name                     = "sentinel"
  username                    = "sentinel"
  manage_master_user_password = true

  allocated_storage     = 50
  max_allocated_storage = 500
  storage_type          = "gp3"
  storage_encrypted     = true
  kms_key_id            = var.kms_key_arn

  multi_az               = true
  db_subnet_group_name   = aws_db_subnet_group.ledger.name
  parameter_group_name   = aws_db_parameter_group.ledger.name
  vpc_security_group_ids = [aws_security_group.database.id]
  publicly_accessible    = false
  ca_cert_identifier     = "rds-ca-rsa2048-g1"

  backup_retention_period         = var.database_backup_days
  copy_tags_to_snapshot           = true
  deletion_protection             = true
  final_snapshot_identifier       = "${var.name}-ledger-last"
  enabled_cloudwatch_logs_exports = ["postgresql"]
  auto_minor_version_upgrade      = true
  performance_insights_enabled    = true

  tags = var.tags

  lifecycle {
    prevent_destroy = true
  }
}

# The checkpoints, on other storage than the ledger.
resource "aws_efs_file_system" "checkpoints" {
  encrypted  = true
  kms_key_id = var.kms_key_arn
  tags       = merge(var.tags, { Name = "${var.name}-checkpoints" })

  lifecycle {
    prevent_destroy = true
  }
}

resource "aws_efs_mount_target" "checkpoints" {
  count = length(var.private_subnet_ids)

  file_system_id  = aws_efs_file_system.checkpoints.id
  subnet_id       = var.private_subnet_ids[count.index]
  security_groups = [aws_security_group.checkpoints.id]
}

resource "aws_efs_access_point" "checkpoints" {
  file_system_id = aws_efs_file_system.checkpoints.id
  tags           = var.tags

  posix_user {
    uid = 10001
    gid = 10001
  }

  root_directory {
    path = "/checkpoints"

    creation_info {
      owner_uid   = 10001
      owner_gid   = 10001
      permissions = "0700"
    }
  }
}

resource "aws_efs_backup_policy" "checkpoints" {
  file_system_id = aws_efs_file_system.checkpoints.id

  backup_policy {
    status = "ENABLED"
  }
}
