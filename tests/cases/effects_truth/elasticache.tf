data "aws_subnets" "default" {}

resource "aws_elasticache_subnet_group" "seed" {
  name        = "seed"
  description = "seed"
  subnet_ids  = [data.aws_subnets.default.ids[0]]
  tags        = { team = "one" } # then { team = "two" }
}

resource "aws_elasticache_cluster" "seed" {
  cluster_id           = "seed"
  engine               = "memcached"
  node_type            = "cache.t3.micro"
  num_cache_nodes      = 1
  port                 = 11211
  maintenance_window   = "sun:05:00-sun:09:00"
  tags                 = { team = "one" } # then { team = "two" }
  lifecycle {
    ignore_changes = [parameter_group_name, engine_version]
  }
  timeouts {
    delete = "20s"
  }
}

resource "aws_elasticache_user" "seed" {
  user_id       = "seed"
  user_name     = "default"
  engine        = "REDIS"
  access_string = "on ~app::* -@all +@read"
  passwords     = ["placeholder-password-one"]
  tags          = { team = "one" } # then { team = "two" }
}
