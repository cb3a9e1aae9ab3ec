resource "aws_lambda_function" "worker" {
  function_name = "services-worker"
  role          = aws_iam_role.app.arn
  runtime       = "python3.12"
  handler       = "main.handler"
  filename      = "${path.module}/code.zip"
}

resource "aws_lambda_permission" "bus" {
  statement_id  = "bus"
  action        = "lambda:InvokeFunction"
  function_name = aws_lambda_function.worker.function_name
  principal     = "events.amazonaws.com"
}

resource "aws_launch_template" "fleet" {
  name          = "services-fleet"
  image_id      = "ami-12c6146b"
  instance_type = "t3.micro"
}

resource "aws_autoscaling_group" "fleet" {
  name                = "services-fleet"
  min_size            = 1
  max_size            = 4
  desired_capacity    = 1
  vpc_zone_identifier = [aws_subnet.a.id, aws_subnet.b.id]

  launch_template {
    id      = aws_launch_template.fleet.id
    version = "$Latest"
  }
}

resource "aws_autoscaling_schedule" "evening" {
  scheduled_action_name  = "evening"
  autoscaling_group_name = aws_autoscaling_group.fleet.name
  recurrence             = "0 20 * * *"
  min_size               = 1
  max_size               = 2
  desired_capacity       = 1
}

resource "aws_lb" "web" {
  name            = "services-web"
  internal        = true
  security_groups = [aws_security_group.web.id]
  subnets         = [aws_subnet.a.id, aws_subnet.b.id]
}

resource "aws_lb_target_group" "web" {
  name     = "services-web"
  port     = 8080
  protocol = "HTTP"
  vpc_id   = aws_vpc.main.id
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
  name = "services"
}

resource "aws_ecs_task_definition" "app" {
  family                   = "services-app"
  requires_compatibilities = ["FARGATE"]
  network_mode             = "awsvpc"
  cpu                      = 256
  memory                   = 512
  container_definitions = jsonencode([
    { name = "app", image = "services/app:1", essential = true }
  ])
}
