data "aws_subnets" "default" {}

resource "aws_redshift_subnet_group" "seed" {
  name        = "seed"
  description = "first" # then "second"
  subnet_ids  = [data.aws_subnets.default.ids[0]] # then [data.aws_subnets.default.ids[1]]
  tags        = { team = "one" } # then { team = "two" }
}

resource "aws_redshift_parameter_group" "seed" {
  name        = "seed"
  family      = "redshift-1.0"
  description = "seed"
  tags        = { team = "one" } # then { team = "two" }
}

resource "aws_redshift_cluster" "seed" {
  cluster_identifier                  = "seed"
  database_name                       = "seed"
  master_username                     = "seed"
  master_password                     = "Placeholder1" # then "Placeholder2"
  node_type                           = "ra3.xlplus"
  cluster_type                        = "single-node"
  automated_snapshot_retention_period = 2 # then 3
  preferred_maintenance_window        = "sun:05:00-sun:06:00" # then "mon:05:00-mon:06:00"
  allow_version_upgrade               = true # then false
  publicly_accessible                 = false
  skip_final_snapshot                 = true
  tags                                = { team = "one" } # then { team = "two" }
}

resource "aws_redshift_snapshot_copy_grant" "seed" {
  snapshot_copy_grant_name = "seed"
  kms_key_id               = "arn:aws:kms:eu-west-1:123456789012:key/first"
  tags                     = { team = "one" } # then { team = "two" }
}

resource "aws_redshift_cluster_snapshot" "seed" {
  snapshot_identifier = "seed"
  cluster_identifier  = aws_redshift_cluster.seed.id
  tags                = { team = "one" } # then { team = "two" }
}
