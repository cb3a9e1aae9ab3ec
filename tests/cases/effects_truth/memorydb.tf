data "aws_subnets" "default" {}

resource "aws_memorydb_subnet_group" "seed" {
  name        = "seed"
  description = "first" # then "second"
  subnet_ids  = [data.aws_subnets.default.ids[0]]
  tags        = { team = "one" } # then { team = "two" }
}

resource "aws_memorydb_cluster" "seed" {
  name                     = "seed"
  description              = "first" # then "second"
  acl_name                 = "open-access"
  node_type                = "db.t4g.small"
  num_shards               = 1
  snapshot_retention_limit = 3 # then 4
  maintenance_window       = "sun:05:00-sun:09:00" # then "mon:05:00-mon:09:00"
  subnet_group_name        = aws_memorydb_subnet_group.seed.id
  tags                     = { team = "one" } # then { team = "two" }
}

resource "aws_memorydb_snapshot" "seed" {
  name         = "seed"
  cluster_name = aws_memorydb_cluster.seed.name
  tags         = { team = "one" } # then { team = "two" }
}

resource "aws_dax_subnet_group" "seed" {
  name       = "seed"
  subnet_ids = [data.aws_subnets.default.ids[0]]
}

resource "aws_dax_cluster" "seed" {
  cluster_name       = "seed"
  description        = "seed"
  iam_role_arn       = "arn:aws:iam::123456789012:role/dax"
  node_type          = "dax.r4.large"
  replication_factor = 1
  tags               = { team = "one" } # then { team = "two" }
}
