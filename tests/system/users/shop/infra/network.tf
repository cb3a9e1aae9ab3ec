resource "aws_vpc" "shop" {
  cidr_block = "10.20.0.0/16"
}

resource "aws_subnet" "shop" {
  for_each = { a = "10.20.1.0/24", b = "10.20.2.0/24" }

  vpc_id            = aws_vpc.shop.id
  availability_zone = "us-east-1${each.key}"
  cidr_block        = each.value
}

resource "aws_security_group" "api" {
  name_prefix = "shop-api-" # the provider invents the rest of the name at each creation
  vpc_id      = aws_vpc.shop.id

  ingress {
    description = "the load balancer"
    from_port   = 8443
    to_port     = 8443
    protocol    = "tcp"
    cidr_blocks = ["10.20.0.0/16"]
  }
}
