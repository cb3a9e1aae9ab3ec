data "aws_subnets" "default" {}

resource "aws_ecs_cluster" "seed" {
  name = "seed"
  setting {
    name  = "containerInsights"
    value = "disabled" # then "enabled"
  }
  configuration {
    execute_command_configuration {
      logging = "DEFAULT" # then "NONE"
    }
  }
  service_connect_defaults {
    namespace = "arn:aws:servicediscovery:eu-west-1:123456789012:namespace/ns-first" # then "arn:aws:servicediscovery:eu-west-1:123456789012:namespace/ns-second"
  }
  tags = { team = "one", kept = "yes" } # then { team = "two", added = "yes" }
}

resource "aws_ecs_cluster" "bare" {
  name = "bare"
}

resource "aws_ecs_task_definition" "seed" {
  family                   = "seed"
  cpu                      = "256"
  memory                   = "512"
  network_mode             = "awsvpc"
  requires_compatibilities = ["FARGATE"]
  execution_role_arn       = "arn:aws:iam::123456789012:role/first"
  container_definitions    = jsonencode([{ name = "app", image = "nginx", essential = true, cpu = 0, memory = 128, environment = [], mountPoints = [], portMappings = [], systemControls = [], volumesFrom = [] }])
  tags                     = { team = "one" } # then { team = "two" }
}

resource "aws_ecs_task_definition" "second" {
  family                   = "second"
  cpu                      = "256"
  memory                   = "512"
  network_mode             = "awsvpc"
  requires_compatibilities = ["FARGATE"]
  container_definitions    = aws_ecs_task_definition.seed.container_definitions
}

resource "aws_ecs_service" "seed" {
  name                               = "seed"
  cluster                            = aws_ecs_cluster.bare.id
  task_definition                    = aws_ecs_task_definition.seed.arn # then aws_ecs_task_definition.second.arn
  desired_count                      = 1 # then 2
  deployment_maximum_percent         = 200 # then 150
  deployment_minimum_healthy_percent = 100 # then 50
  launch_type                        = "FARGATE"
  propagate_tags                     = "SERVICE" # then "TASK_DEFINITION"
  enable_execute_command             = false # then true
  force_delete                       = true
  network_configuration {
    subnets          = [data.aws_subnets.default.ids[0]]
    assign_public_ip = false # then true
  }
  tags = { team = "one" } # then { team = "two" }
}

resource "aws_autoscaling_group" "seed" {
  name               = "truth-ecs"
  min_size           = 0
  max_size           = 0
  availability_zones = ["eu-west-1a"]
  launch_template {
    id      = aws_launch_template.seed.id
    version = "$Latest"
  }
  lifecycle {
    ignore_changes = [tag]
  }
}

resource "aws_launch_template" "seed" {
  name          = "truth-ecs"
  image_id      = "ami-12c6146b"
  instance_type = "t3.micro"
}

resource "aws_ecs_capacity_provider" "seed" {
  name = "seed"
  auto_scaling_group_provider {
    auto_scaling_group_arn = aws_autoscaling_group.seed.arn
    managed_scaling {
      status                    = "ENABLED" # then "DISABLED"
      target_capacity           = 50 # then 60
      minimum_scaling_step_size = 1 # then 2
      maximum_scaling_step_size = 10 # then 11
    }
  }
  tags = { team = "one" } # then { team = "two" }
}

resource "aws_ecs_cluster_capacity_providers" "seed" {
  cluster_name       = aws_ecs_cluster.bare.name
  capacity_providers = [aws_ecs_capacity_provider.seed.name, "FARGATE"] # then [aws_ecs_capacity_provider.seed.name]
  default_capacity_provider_strategy {
    capacity_provider = aws_ecs_capacity_provider.seed.name
    base              = 1 # then 2
    weight            = 50 # then 60
  }
}

resource "aws_ecs_tag" "seed" {
  resource_arn = aws_ecs_cluster.bare.arn
  key          = "seed"
  value        = "first" # then "second"
}
