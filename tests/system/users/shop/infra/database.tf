resource "aws_db_subnet_group" "orders" {
  name       = "shop-orders"
  subnet_ids = [for subnet in aws_subnet.shop : subnet.id]
}

resource "aws_db_instance" "orders" {
  identifier              = "shop-orders"
  engine                  = "postgres"
  engine_version          = "16.3"
  instance_class          = "db.t4g.medium"
  allocated_storage       = 20
  username                = "shop"
  password                = "a-password-of-the-shop"
  db_subnet_group_name    = aws_db_subnet_group.orders.name
  backup_retention_period = 7
  apply_immediately       = true
  skip_final_snapshot     = true
}
