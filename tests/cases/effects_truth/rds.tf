data "aws_subnets" "default" {}

resource "aws_db_subnet_group" "seed" {
  name        = "seed"
  description = "first" # then "second"
  subnet_ids  = [data.aws_subnets.default.ids[0], data.aws_subnets.default.ids[1]] # then [data.aws_subnets.default.ids[0], data.aws_subnets.default.ids[2]]
  tags        = { team = "one" } # then { team = "two" }
}

resource "aws_db_parameter_group" "seed" {
  name        = "seed"
  family      = "postgres16"
  description = "seed"
  parameter {
    name  = "log_connections"
    value = "0" # then "1"
  }
  tags = { team = "one" } # then { team = "two" }
}

resource "aws_db_option_group" "seed" {
  name                     = "seed"
  option_group_description = "seed"
  engine_name              = "mysql"
  major_engine_version     = "5.6"
  tags                     = { team = "one" } # then { team = "two" }
}

resource "aws_db_instance" "seed" {
  identifier                   = "seed"
  engine                       = "postgres"
  engine_version               = "16.3"
  instance_class               = "db.t3.micro" # then "db.t3.small"
  allocated_storage            = 20 # then 30
  storage_type                 = "gp2"
  username                     = "seed"
  password                     = "placeholder-one" # then "placeholder-two"
  db_name                      = "seed"
  db_subnet_group_name         = aws_db_subnet_group.seed.name
  parameter_group_name         = aws_db_parameter_group.seed.name
  backup_retention_period      = 3 # then 4
  backup_window                = "03:00-04:00" # then "04:00-05:00"
  maintenance_window           = "mon:05:00-mon:06:00" # then "tue:05:00-tue:06:00"
  auto_minor_version_upgrade   = true # then false
  copy_tags_to_snapshot        = true # then false
  deletion_protection          = true # then false
  iam_database_authentication_enabled = false # then true
  multi_az                     = false # then true
  publicly_accessible          = false # then true
  skip_final_snapshot          = true
  apply_immediately            = true
  enabled_cloudwatch_logs_exports = ["postgresql"] # then ["upgrade"]
  tags                         = { team = "one", kept = "yes" } # then { team = "two", added = "yes" }
}

resource "aws_db_snapshot" "seed" {
  db_instance_identifier = aws_db_instance.seed.identifier
  db_snapshot_identifier = "seed"
  tags                   = { team = "one" } # then { team = "two" }
}

resource "aws_db_snapshot_copy" "seed" {
  source_db_snapshot_identifier = aws_db_snapshot.seed.db_snapshot_arn
  target_db_snapshot_identifier = "copy"
  tags                          = { team = "one" } # then { team = "two" }
}

resource "aws_sns_topic" "seed" {
  name = "truth-rds"
}

resource "aws_db_event_subscription" "seed" {
  name             = "seed"
  sns_topic        = aws_sns_topic.seed.arn
  source_type      = "db-instance"
  event_categories = ["failure"]
  enabled          = true
  tags             = { team = "one" } # then { team = "two" }
}

resource "aws_db_proxy" "seed" {
  name                = "seed"
  engine_family       = "POSTGRESQL"
  role_arn            = "arn:aws:iam::123456789012:role/first"
  vpc_subnet_ids      = [data.aws_subnets.default.ids[0], data.aws_subnets.default.ids[1]]
  idle_client_timeout = 100
  auth {
    auth_scheme = "SECRETS"
    iam_auth    = "DISABLED"
    secret_arn  = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:seed-abcdef"
  }
  tags = { team = "one" } # then { team = "two" }
}
