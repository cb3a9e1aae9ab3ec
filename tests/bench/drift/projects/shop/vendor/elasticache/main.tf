variable "create" {
  type    = bool
  default = true
}

variable "cluster_id" {
  type = string
}

variable "node_type" {
  type    = string
  default = "cache.t3.micro"
}

variable "num_cache_nodes" {
  type    = number
  default = 1
}

resource "aws_elasticache_cluster" "this" {
  count = var.create ? 1 : 0

  cluster_id      = var.cluster_id
  engine          = "memcached"
  engine_version  = "1.6.22"
  node_type       = var.node_type
  num_cache_nodes = var.num_cache_nodes
}

resource "aws_cloudwatch_log_group" "engine" {
  count = var.create ? 1 : 0

  name              = "/elasticache/${var.cluster_id}"
  retention_in_days = 14
}

output "cluster_id" {
  value = try(aws_elasticache_cluster.this[0].cluster_id, "")
}
