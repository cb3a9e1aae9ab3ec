data "aws_subnets" "default" {}

data "aws_vpc" "default" {
  default = true
}

resource "aws_security_group" "seed" {
  name = "truth-elb"
}

resource "aws_security_group" "second" {
  name = "truth-elb-second"
}

resource "aws_lb" "seed" {
  name                       = "seed"
  internal                   = true
  load_balancer_type         = "application"
  security_groups            = [aws_security_group.seed.id] # then [aws_security_group.second.id]
  subnets                    = [data.aws_subnets.default.ids[0], data.aws_subnets.default.ids[1]]
  enable_deletion_protection = true # then false
  enable_http2               = true # then false
  idle_timeout               = 50 # then 70
  drop_invalid_header_fields = false # then true
  desync_mitigation_mode     = "defensive" # then "strictest"
  tags                       = { team = "one", kept = "yes" } # then { team = "two", added = "yes" }
}

resource "aws_lb_target_group" "seed" {
  name                          = "seed"
  port                          = 80
  protocol                      = "HTTP"
  vpc_id                        = data.aws_vpc.default.id
  deregistration_delay          = 30 # then 60
  slow_start                    = 30 # then 60
  load_balancing_algorithm_type = "round_robin" # then "least_outstanding_requests"
  health_check {
    path                = "/a" # then "/b"
    interval            = 20 # then 30
    timeout             = 5 # then 6
    healthy_threshold   = 3 # then 4
    unhealthy_threshold = 3 # then 4
    matcher             = "200" # then "200-299"
  }
  stickiness {
    type            = "lb_cookie"
    enabled         = false # then true
    cookie_duration = 100 # then 200
  }
  tags = { team = "one" } # then { team = "two" }
}

resource "aws_lb_target_group" "second" {
  name     = "second"
  port     = 81
  protocol = "HTTP"
  vpc_id   = data.aws_vpc.default.id
}

resource "aws_lb_target_group_attachment" "seed" {
  target_group_arn = aws_lb_target_group.seed.arn
  target_id        = aws_instance.seed.id
  port             = 8080
}

resource "aws_instance" "seed" {
  ami           = "ami-12c6146b"
  instance_type = "t3.micro"
}

resource "aws_lb_listener" "seed" {
  load_balancer_arn = aws_lb.seed.arn
  port              = 80 # then 8080
  protocol          = "HTTP"
  default_action {
    type             = "forward"
    target_group_arn = aws_lb_target_group.seed.arn # then aws_lb_target_group.second.arn
  }
  tags = { team = "one" } # then { team = "two" }
}

resource "aws_lb_listener_rule" "seed" {
  listener_arn = aws_lb_listener.seed.arn
  priority     = 10 # then 20
  action {
    type             = "forward"
    target_group_arn = aws_lb_target_group.seed.arn # then aws_lb_target_group.second.arn
  }
  condition {
    path_pattern {
      values = ["/a/*"] # then ["/b/*"]
    }
  }
  tags = { team = "one" } # then { team = "two" }
}

resource "aws_iam_server_certificate" "seed" {
  name             = "truth-elb"
  certificate_body = file("certificate.pem")
  private_key      = file("private_key.pem")
}

resource "aws_iam_server_certificate" "second" {
  name             = "truth-elb-second"
  certificate_body = file("certificate.pem")
  private_key      = file("private_key.pem")
}

resource "aws_lb_listener" "secure" {
  load_balancer_arn = aws_lb.seed.arn
  port              = 443
  protocol          = "HTTPS"
  ssl_policy        = "ELBSecurityPolicy-2016-08" # then "ELBSecurityPolicy-TLS13-1-2-2021-06"
  certificate_arn   = aws_iam_server_certificate.seed.arn # then aws_iam_server_certificate.second.arn
  default_action {
    type = "fixed-response"
    fixed_response {
      content_type = "text/plain" # then "text/html"
      message_body = "first" # then "second"
      status_code  = "200" # then "201"
    }
  }
}

resource "aws_lb_listener_certificate" "seed" {
  listener_arn    = aws_lb_listener.secure.arn
  certificate_arn = aws_iam_server_certificate.second.arn
}

resource "aws_elb" "seed" {
  name                      = "classic"
  availability_zones        = ["eu-west-1a", "eu-west-1b"]
  cross_zone_load_balancing = true # then false
  idle_timeout              = 50 # then 70
  connection_draining       = true # then false
  listener {
    instance_port     = 80 # then 81
    instance_protocol = "http"
    lb_port           = 80
    lb_protocol       = "http"
  }
  listener {
    instance_port      = 443
    instance_protocol  = "http"
    lb_port            = 443
    lb_protocol        = "https"
    ssl_certificate_id = aws_iam_server_certificate.seed.arn
  }
  health_check {
    target              = "HTTP:80/a" # then "HTTP:80/b"
    interval            = 20 # then 30
    timeout             = 3 # then 4
    healthy_threshold   = 2 # then 3
    unhealthy_threshold = 2 # then 3
  }
  tags = { team = "one" } # then { team = "two" }
  lifecycle {
    ignore_changes = [instances]
  }
}

resource "aws_elb_attachment" "seed" {
  elb      = aws_elb.seed.id
  instance = aws_instance.seed.id
}

resource "aws_load_balancer_policy" "seed" {
  load_balancer_name = aws_elb.seed.name
  policy_name        = "proxy"
  policy_type_name   = "ProxyProtocolPolicyType"
  policy_attribute {
    name  = "ProxyProtocol"
    value = "true"
  }
}

resource "aws_load_balancer_backend_server_policy" "seed" {
  load_balancer_name = aws_elb.seed.name
  instance_port      = 443
  policy_names       = [aws_load_balancer_policy.seed.policy_name]
}
