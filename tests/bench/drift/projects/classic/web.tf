resource "aws_instance" "web" {
  count = var.web_count

  ami                    = "ami-12c6146b"
  instance_type          = lookup(var.web_types, var.environment, "t3.small")
  subnet_id              = element(aws_subnet.public[*].id, count.index)
  vpc_security_group_ids = [aws_security_group.web.id]
  tags                   = merge(var.tags, { Name = format("%s-web-%d", var.name, count.index + 1) })

  user_data = templatefile("${path.module}/templates/web.sh.tpl", {
    name    = var.name
    modules = ["ssl", "proxy"]
  })
}

resource "aws_ebs_volume" "data" {
  count = 2

  availability_zone = element(split(",", var.zones), count.index)
  size              = var.volume_size
  type              = "gp2"
  tags              = merge(var.tags, { Name = format("%s-data-%d", var.name, count.index + 1) })

  lifecycle {
    postcondition {
      condition     = self.size <= 500
      error_message = "A volume of more than 500 GiB cannot be restored within a night."
    }
  }
}
