resource "aws_instance" "web" {
  ami           = "ami-12c6146b"
  instance_type = var.instance_type
  subnet_id     = aws_subnet.a.id

  tags = var.web_tags
}

resource "aws_instance" "bastion" {
  ami           = "ami-12c6146b"
  instance_type = "t3.micro"
  subnet_id     = aws_subnet.a.id

  tags = {
    Name = "bastion"
    env  = var.environment
  }
}

resource "aws_ebs_volume" "data" {
  availability_zone = "eu-west-1a"
  size              = 20
  type              = "gp2"
}

resource "aws_launch_template" "fleet" {
  name          = "fleet"
  image_id      = "ami-12c6146b"
  instance_type = "t3.micro"
}

resource "aws_autoscaling_group" "fleet" {
  name                = "fleet"
  min_size            = 1
  max_size            = var.fleet_max
  desired_capacity    = var.fleet_desired
  vpc_zone_identifier = [aws_subnet.a.id, aws_subnet.b.id]

  launch_template {
    id      = aws_launch_template.fleet.id
    version = "$Latest"
  }
}

# Scales by itself, so the desired capacity is not set.
resource "aws_autoscaling_group" "batch" {
  name                = "batch"
  min_size            = 0
  max_size            = 4
  vpc_zone_identifier = [aws_subnet.a.id]

  launch_template {
    id      = aws_launch_template.fleet.id
    version = "$Latest"
  }
}

resource "aws_lb" "web" {
  name                       = "web"
  internal                   = true
  idle_timeout               = 60
  enable_deletion_protection = false
  security_groups            = [aws_security_group.api.id]
  subnets                    = [aws_subnet.a.id, aws_subnet.b.id]
}

resource "aws_lb_target_group" "web" {
  name     = "web"
  port     = 8080
  protocol = "HTTP"
  vpc_id   = aws_vpc.main.id

  health_check {
    path                = "/healthz"
    interval            = 30
    healthy_threshold   = 3
    unhealthy_threshold = 3
  }
}

resource "aws_lb_listener" "web" {
  load_balancer_arn = aws_lb.web.arn
  port              = 80
  protocol          = "HTTP"

  default_action {
    type             = "forward"
    target_group_arn = aws_lb_target_group.web.arn
  }
}

resource "aws_ecs_cluster" "main" {
  name = "main"
}

resource "aws_ecs_task_definition" "web" {
  family                   = "web"
  requires_compatibilities = ["FARGATE"]
  network_mode             = "awsvpc"
  cpu                      = 256
  memory                   = 512
  container_definitions = jsonencode([
    { name = "web", image = "shop/web:1", essential = true }
  ])
}

resource "aws_ecs_service" "web" {
  name            = "web"
  cluster         = aws_ecs_cluster.main.arn
  task_definition = aws_ecs_task_definition.web.arn
  desired_count   = 2
  launch_type     = "FARGATE"

  network_configuration {
    subnets = [aws_subnet.a.id]
  }
}

resource "aws_ecr_repository" "web" {
  name                 = "shop/web"
  image_tag_mutability = "MUTABLE"

  image_scanning_configuration {
    scan_on_push = false
  }
}
