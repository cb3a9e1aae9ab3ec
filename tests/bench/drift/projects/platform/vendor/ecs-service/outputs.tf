output "service_name" {
  value = aws_ecs_service.this.name
}
