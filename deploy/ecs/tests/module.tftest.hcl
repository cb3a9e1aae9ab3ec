# `terraform init && terraform test`: what is in the tasks, without an account.

mock_provider "aws" {
  override_during = plan

  mock_data "aws_region" {
    defaults = { name = "eu-central-1" }
  }

  mock_data "aws_iam_policy_document" {
    defaults = { json = "{\"Version\":\"2012-10-17\",\"Statement\":[]}" }
  }

  mock_resource "aws_db_instance" {
    defaults = {
      address            = "ledger.internal"
      master_user_secret = [{ secret_arn = "arn:aws:secretsmanager:eu-central-1:123456789012:secret:rds", secret_status = "active", kms_key_id = "" }]
    }
  }

  mock_resource "aws_iam_role" {
    defaults = { arn = "arn:aws:iam::123456789012:role/any" }
  }

  mock_resource "aws_cloudwatch_log_group" {
    defaults = { arn = "arn:aws:logs:eu-central-1:123456789012:log-group:/sentinel" }
  }
}

variables {
  vpc_id                    = "vpc-1"
  private_subnet_ids        = ["subnet-1", "subnet-2"]
  load_balancer_subnet_ids  = ["subnet-1", "subnet-2"]
  client_cidrs              = ["10.0.0.0/8"]
  certificate_arn           = "arn:aws:acm:eu-central-1:123456789012:certificate/1"
  public_url                = "https://sentinel.example"
  gateway_image             = "registry.example/gateway@sha256:1"
  reconciler_image          = "registry.example/reconciler@sha256:2"
  master_key_secret_arn     = "arn:aws:secretsmanager:eu-central-1:123456789012:secret:master"
  reconciler_key_secret_arn = "arn:aws:secretsmanager:eu-central-1:123456789012:secret:key"
  code_repository           = "https://git.example/infra.git"
  settings                  = { SENTINEL_STACKS = "[{\"name\": \"prod\", \"path\": \"/srv/infra\"}]" }
}

run "tasks" {
  command = plan

  assert {
    condition     = toset(keys(aws_ecs_task_definition.this)) == toset(["gateway", "migrate", "reconciler"])
    error_message = "There are three tasks."
  }

  assert {
    condition = alltrue(flatten([
      for task in aws_ecs_task_definition.this : [
        for container in jsondecode(task.container_definitions) :
        container.readonlyRootFilesystem && !container.privileged && container.user == "10001:10001" && container.linuxParameters.capabilities.drop[0] == "ALL"
      ]
    ]))
    error_message = "A container has rights that it does not need."
  }

  assert {
    condition = alltrue(flatten([
      for task in aws_ecs_task_definition.this : [
        for container in jsondecode(task.container_definitions) : [
          for variable in try(container.environment, []) : !can(regex("MASTER_KEY|SECRET|PASSWORD", variable.name))
        ]
      ]
    ]))
    error_message = "A secret is in the plain environment of a container."
  }

  assert {
    condition = anytrue([
      for container in jsondecode(aws_ecs_task_definition.this["gateway"].container_definitions) :
      container.name == "gateway" && contains([for secret in try(container.secrets, []) : secret.name], "SENTINEL_MASTER_KEY") &&
      contains([for variable in try(container.environment, []) : variable.value], "postgresql+psycopg://sentinel@ledger.internal:5432/sentinel?sslmode=require")
    ])
    error_message = "The gateway does not get the ledger and the master key."
  }

  assert {
    condition     = aws_lb_target_group.gateway.health_check[0].path == "/readyz" && aws_ecs_service.gateway.deployment_minimum_healthy_percent == 100
    error_message = "A gateway is replaced before the next one is ready."
  }

  assert {
    condition     = aws_db_instance.ledger.multi_az && aws_db_instance.ledger.storage_encrypted && aws_db_instance.ledger.deletion_protection && !aws_db_instance.ledger.publicly_accessible
    error_message = "The ledger is not safe."
  }

  assert {
    condition     = length(aws_iam_role_policy_attachment.gateway) == 0
    error_message = "The gateway has rights that nobody gave."
  }
}

run "without_a_reconciler_key" {
  command = plan

  variables {
    reconciler_key_secret_arn = ""
  }

  assert {
    condition     = length(aws_ecs_service.reconciler) == 0 && !contains(keys(aws_ecs_task_definition.this), "reconciler")
    error_message = "The reconciler runs without a key."
  }
}

run "refuses_the_internet" {
  command = plan

  variables {
    client_cidrs = ["0.0.0.0/0"]
  }

  expect_failures = [var.client_cidrs]
}

run "refuses_secrets_in_settings" {
  command = plan

  variables {
    settings = { SENTINEL_STACKS = "[]", SENTINEL_MASTER_KEY = "not here" }
  }

  expect_failures = [var.settings]
}

run "refuses_one_gateway" {
  command = plan

  variables {
    gateways = { least = 1, most = 1, cpu_percent = 60 }
  }

  expect_failures = [var.gateways]
}
