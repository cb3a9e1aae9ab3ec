locals {
  has_reconciler = var.reconciler_key_secret_arn != ""

  environment = merge(var.settings, {
    SENTINEL_LEDGER             = "postgresql+psycopg://sentinel@${aws_db_instance.ledger.address}:5432/sentinel?sslmode=require"
    SENTINEL_LEDGER_DATABASES   = jsonencode([aws_db_instance.ledger.identifier])
    SENTINEL_SERVER__PUBLIC_URL = var.public_url
    AWS_REGION                  = data.aws_region.this.name
  })

  secrets = [
    { name = "SENTINEL_MASTER_KEY", valueFrom = var.master_key_secret_arn },
    { name = "PGPASSWORD", valueFrom = "${aws_db_instance.ledger.master_user_secret[0].secret_arn}:password::" },
  ]

  reconciler_secrets = [
    { name = "SENTINEL_RECONCILE__KEY_ID", valueFrom = "${var.reconciler_key_secret_arn}:key_id::" },
    { name = "SENTINEL_RECONCILE__KEY_SECRET", valueFrom = "${var.reconciler_key_secret_arn}:key_secret::" },
  ]

  hardened = {
    essential              = true
    user                   = "10001:10001"
    privileged             = false
    readonlyRootFilesystem = true
    linuxParameters        = { initProcessEnabled = true, capabilities = { drop = ["ALL"] } }
  }

  mounts = [
    { sourceVolume = "tmp", containerPath = "/tmp", readOnly = false },
    { sourceVolume = "code", containerPath = "/srv/infra", readOnly = false },
    { sourceVolume = "data", containerPath = "/var/lib/sentinel", readOnly = false },
    { sourceVolume = "checkpoint", containerPath = "/var/lib/sentinel-checkpoint", readOnly = false },
  ]

  keep_fetched = ["/opt/sentinel/bin/python", "-I", "/opt/sentinel/share/keep_fetched.py"]

  # The code is cloned before a program starts, and fetched afterwards.
  code_containers = [
    merge(local.hardened, {
      name             = "clone"
      image            = var.reconciler_image
      essential        = false
      entryPoint       = concat(local.keep_fetched, ["--once", var.code_repository, "/srv/infra"])
      environment      = [{ name = "HOME", value = "/tmp" }]
      mountPoints      = slice(local.mounts, 0, 2)
      logConfiguration = local.logs["clone"]
    }),
    merge(local.hardened, {
      name             = "fetch"
      image            = var.reconciler_image
      entryPoint       = concat(local.keep_fetched, ["--every", "20", var.code_repository, "/srv/infra"])
      environment      = [{ name = "HOME", value = "/tmp" }]
      mountPoints      = slice(local.mounts, 0, 2)
      dependsOn        = [{ containerName = "clone", condition = "SUCCESS" }]
      logConfiguration = local.logs["fetch"]
    }),
  ]

  after_clone = [{ containerName = "clone", condition = "SUCCESS" }]

  logs = {
    for program in ["gateway", "reconciler", "migrate", "clone", "fetch"] : program => {
      logDriver = "awslogs"
      options = {
        awslogs-group         = aws_cloudwatch_log_group.this.name
        awslogs-region        = data.aws_region.this.name
        awslogs-stream-prefix = program
      }
    }
  }

  environment_list = [for name in sort(keys(local.environment)) : { name = name, value = local.environment[name] }]

  tasks = merge(
    {
      gateway = {
        cpu    = 1024
        memory = 2048
        role   = aws_iam_role.gateway.arn
        containers = concat(local.code_containers, [merge(local.hardened, {
          name             = "gateway"
          image            = var.gateway_image
          environment      = local.environment_list
          secrets          = local.secrets
          mountPoints      = local.mounts
          portMappings     = [{ containerPort = 8484, protocol = "tcp" }]
          dependsOn        = local.after_clone
          stopTimeout      = 60
          logConfiguration = local.logs["gateway"]
          healthCheck = {
            command     = ["CMD", "/opt/sentinel/bin/python", "-I", "/opt/sentinel/share/healthcheck.py"]
            interval    = 10
            timeout     = 5
            retries     = 3
            startPeriod = 60
          }
        })])
      }
      migrate = {
        cpu    = 512
        memory = 1024
        role   = aws_iam_role.reconciler.arn
        containers = [merge(local.hardened, {
          name             = "migrate"
          image            = var.gateway_image
          command          = ["migrate"]
          environment      = local.environment_list
          secrets          = local.secrets
          mountPoints      = slice(local.mounts, 0, 1)
          logConfiguration = local.logs["migrate"]
        })]
      }
    },
    !local.has_reconciler ? {} : {
      reconciler = {
        cpu    = 2048
        memory = 4096
        role   = aws_iam_role.reconciler.arn
        containers = concat(local.code_containers, [merge(local.hardened, {
          name             = "reconciler"
          image            = var.reconciler_image
          environment      = concat(local.environment_list, [{ name = "SENTINEL_RECONCILE__ENDPOINT", value = var.public_url }])
          secrets          = concat(local.secrets, local.reconciler_secrets)
          mountPoints      = local.mounts
          dependsOn        = local.after_clone
          stopTimeout      = 120
          logConfiguration = local.logs["reconciler"]
        })])
      }
    },
  )
}

resource "aws_cloudwatch_log_group" "this" {
  name              = "/sentinel/${var.name}"
  retention_in_days = var.log_days
  kms_key_id        = var.kms_key_arn
  tags              = var.tags
}

resource "aws_ecs_cluster" "this" {
  name = var.name
  tags = var.tags

  setting {
    name  = "containerInsights"
    value = "enabled"
  }
}

resource "aws_ecs_task_definition" "this" {
  for_each = local.tasks

  family                   = "${var.name}-${each.key}"
  requires_compatibilities = ["FARGATE"]
  network_mode             = "awsvpc"
  cpu                      = each.value.cpu
  memory                   = each.value.memory
  task_role_arn            = each.value.role
  execution_role_arn       = aws_iam_role.execution.arn
  container_definitions    = jsonencode(each.value.containers)
  tags                     = var.tags

  dynamic "volume" {
    for_each = ["tmp", "code", "data"]

    content {
      name = volume.value
    }
  }

  volume {
    name = "checkpoint"

    efs_volume_configuration {
      file_system_id     = aws_efs_file_system.checkpoints.id
      transit_encryption = "ENABLED"

      authorization_config {
        access_point_id = aws_efs_access_point.checkpoints.id
      }
    }
  }
}

resource "aws_ecs_service" "gateway" {
  name            = "${var.name}-gateway"
  cluster         = aws_ecs_cluster.this.id
  task_definition = aws_ecs_task_definition.this["gateway"].arn
  launch_type     = "FARGATE"
  desired_count   = var.gateways.least
  # Never fewer than before while they are replaced.
  deployment_minimum_healthy_percent = 100
  deployment_maximum_percent         = 200
  health_check_grace_period_seconds  = 60
  enable_execute_command             = false
  propagate_tags                     = "SERVICE"
  tags                               = var.tags

  deployment_circuit_breaker {
    enable   = true
    rollback = true
  }

  network_configuration {
    subnets         = var.private_subnet_ids
    security_groups = [aws_security_group.programs.id]
  }

  load_balancer {
    target_group_arn = aws_lb_target_group.gateway.arn
    container_name   = "gateway"
    container_port   = 8484
  }

  depends_on = [aws_lb_listener.https, aws_efs_mount_target.checkpoints]

  lifecycle {
    ignore_changes = [desired_count] # the autoscaler's
  }
}

resource "aws_ecs_service" "reconciler" {
  count = local.has_reconciler ? 1 : 0

  name                               = "${var.name}-reconciler"
  cluster                            = aws_ecs_cluster.this.id
  task_definition                    = aws_ecs_task_definition.this["reconciler"].arn
  launch_type                        = "FARGATE"
  desired_count                      = 1
  deployment_minimum_healthy_percent = 0
  deployment_maximum_percent         = 100
  enable_execute_command             = false
  propagate_tags                     = "SERVICE"
  tags                               = var.tags

  network_configuration {
    subnets         = var.private_subnet_ids
    security_groups = [aws_security_group.programs.id]
  }

  depends_on = [aws_efs_mount_target.checkpoints]
}

resource "aws_appautoscaling_target" "gateway" {
  service_namespace  = "ecs"
  resource_id        = "service/${aws_ecs_cluster.this.name}/${aws_ecs_service.gateway.name}"
  scalable_dimension = "ecs:service:DesiredCount"
  min_capacity       = var.gateways.least
  max_capacity       = var.gateways.most
  tags               = var.tags
}

resource "aws_appautoscaling_policy" "gateway" {
  name               = "${var.name}-cpu"
  policy_type        = "TargetTrackingScaling"
  service_namespace  = aws_appautoscaling_target.gateway.service_namespace
  resource_id        = aws_appautoscaling_target.gateway.resource_id
  scalable_dimension = aws_appautoscaling_target.gateway.scalable_dimension

  target_tracking_scaling_policy_configuration {
    target_value       = var.gateways.cpu_percent
    scale_in_cooldown  = 600
    scale_out_cooldown = 60

    predefined_metric_specification {
      predefined_metric_type = "ECSServiceAverageCPUUtilization"
    }
  }
}
