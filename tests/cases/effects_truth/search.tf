resource "aws_opensearch_domain" "seed" {
  domain_name     = "seed"
  engine_version  = "OpenSearch_2.11"
  access_policies = jsonencode({ Version = "2012-10-17", Statement = [{ Effect = "Allow", Principal = { AWS = "*" }, Action = "es:*", Resource = "*" }] }) # then jsonencode({ Version = "2012-10-17", Statement = [{ Effect = "Deny", Principal = { AWS = "*" }, Action = "es:*", Resource = "*" }] })
  cluster_config {
    instance_type  = "m5.large.search" # then "m5.xlarge.search"
    instance_count = 1 # then 2
  }
  ebs_options {
    ebs_enabled = true
    volume_size = 10 # then 20
  }
  tags = { team = "one" } # then { team = "two" }
}

resource "aws_elasticsearch_domain" "seed" {
  domain_name           = "seed-old"
  elasticsearch_version = "7.10"
  cluster_config {
    instance_type = "m5.large.elasticsearch"
  }
  ebs_options {
    ebs_enabled = true
    volume_size = 10
  }
  tags = { team = "one" } # then { team = "two" }
}

resource "aws_opensearchserverless_security_policy" "seed" {
  name        = "seed"
  type        = "encryption"
  description = "first" # then "second"
  policy      = jsonencode({ Rules = [{ Resource = ["collection/seed"], ResourceType = "collection" }], AWSOwnedKey = true })
}

resource "aws_opensearchserverless_collection" "seed" {
  depends_on  = [aws_opensearchserverless_security_policy.seed]
  name        = "seed"
  description = "first"
  type        = "SEARCH"
  tags        = { team = "one" } # then { team = "two" }
}

resource "aws_osis_pipeline" "seed" {
  pipeline_name               = "seed"
  min_units                   = 1 # then 2
  max_units                   = 2 # then 3
  pipeline_configuration_body = "version: \"2\"\nlog-pipeline:\n  source:\n    http:\n      path: /a\n  sink:\n    - s3:\n        aws:\n          sts_role_arn: arn:aws:iam::123456789012:role/a\n          region: eu-west-1\n        bucket: a\n        codec:\n          ndjson: null\n"
  tags                        = { team = "one" } # then { team = "two" }
}
