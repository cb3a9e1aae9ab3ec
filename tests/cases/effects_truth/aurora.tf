data "aws_subnets" "default" {}

resource "aws_rds_cluster_parameter_group" "seed" {
  name        = "seed-cluster"
  family      = "aurora-postgresql16"
  description = "seed"
  parameter {
    name         = "log_connections"
    value        = "0" # then "1"
    apply_method = "immediate"
  }
  tags = { team = "one" } # then { team = "two" }
}

resource "aws_rds_cluster" "seed" {
  cluster_identifier           = "seed-cluster"
  engine                       = "aurora-postgresql"
  engine_version               = "16.3"
  master_username              = "seed"
  master_password              = "placeholder-one" # then "placeholder-two"
  database_name                = "seed"
  db_subnet_group_name         = aws_db_subnet_group.seed.name
  backup_retention_period      = 3 # then 4
  preferred_backup_window      = "03:00-04:00" # then "04:00-05:00"
  preferred_maintenance_window = "mon:05:00-mon:06:00" # then "tue:05:00-tue:06:00"
  copy_tags_to_snapshot        = false # then true
  deletion_protection          = true # then false
  iam_database_authentication_enabled = false # then true
  skip_final_snapshot          = true
  apply_immediately            = true
  tags                         = { team = "one" } # then { team = "two" }
  lifecycle {
    ignore_changes = [availability_zones, db_cluster_parameter_group_name]
  }
}

resource "aws_rds_cluster_instance" "seed" {
  identifier                 = "seed-cluster-a"
  cluster_identifier         = aws_rds_cluster.seed.id
  engine                     = aws_rds_cluster.seed.engine
  instance_class             = "db.r5.large" # then "db.r5.xlarge"
  auto_minor_version_upgrade = true # then false
  promotion_tier             = 1 # then 2
  publicly_accessible        = false
  apply_immediately          = true
  tags                       = { team = "one" } # then { team = "two" }
}

resource "aws_db_cluster_snapshot" "seed" {
  db_cluster_identifier          = aws_rds_cluster.seed.id
  db_cluster_snapshot_identifier = "seed-cluster"
  tags                           = { team = "one" } # then { team = "two" }
}

resource "aws_rds_global_cluster" "seed" {
  global_cluster_identifier = "seed-global"
  engine                    = "aurora-postgresql"
  engine_version            = "16.3"
  deletion_protection       = false
}

resource "aws_db_subnet_group" "seed" {
  name       = "truth-aurora"
  subnet_ids = [data.aws_subnets.default.ids[0], data.aws_subnets.default.ids[1]]
}
