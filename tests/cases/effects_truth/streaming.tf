data "aws_subnets" "default" {}

resource "aws_security_group" "seed" {
  name = "truth-streaming"
}

resource "aws_msk_cluster" "seed" {
  cluster_name           = "seed"
  kafka_version          = "3.5.1"
  number_of_broker_nodes = 2
  enhanced_monitoring    = "DEFAULT"
  broker_node_group_info {
    instance_type   = "kafka.m5.large"
    client_subnets  = [data.aws_subnets.default.ids[0], data.aws_subnets.default.ids[1]]
    security_groups = [aws_security_group.seed.id]
    storage_info {
      ebs_storage_info {
        volume_size = 100
      }
    }
  }
  tags = { team = "one" } # then { team = "two" }
}

resource "aws_msk_configuration" "seed" {
  name              = "seed"
  description       = "first"
  kafka_versions    = ["3.5.1"]
  server_properties = "auto.create.topics.enable = true\n"
}

resource "aws_mq_broker" "seed" {
  broker_name                = "seed"
  engine_type                = "ActiveMQ"
  engine_version             = "5.17.6"
  host_instance_type         = "mq.t3.micro"
  auto_minor_version_upgrade = true
  user {
    username = "seed"
    password = "placeholder-one"
  }
  tags = { team = "one" } # then { team = "two" }
}

resource "aws_mq_configuration" "seed" {
  name           = "seed"
  description    = "first" # then "second"
  engine_type    = "ActiveMQ"
  engine_version = "5.17.6"
  data           = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n<broker xmlns=\"http://activemq.apache.org/schema/core\">\n</broker>\n"
  tags           = { team = "one" } # then { team = "two" }
}

resource "aws_swf_domain" "seed" {
  name                                        = "seed"
  description                                 = "seed"
  workflow_execution_retention_period_in_days = "30"
}
