
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
