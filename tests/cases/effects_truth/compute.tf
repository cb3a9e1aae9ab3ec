data "aws_subnets" "default" {}

data "aws_ami" "any" {
  most_recent = true
  owners      = ["amazon"]
}

resource "aws_security_group" "seed" {
  name = "seed"
}

resource "aws_instance" "seed" {
  ami                                  = data.aws_ami.any.id
  instance_type                        = "t3.micro" # then "t3.small"
  subnet_id                            = data.aws_subnets.default.ids[0]
  vpc_security_group_ids               = [aws_security_group.seed.id]
  disable_api_termination              = true # then false
  instance_initiated_shutdown_behavior = "stop" # then "terminate"
  monitoring                           = false # then true
  source_dest_check                    = true # then false
  user_data                            = "first" # then "second"
  tags                                 = { team = "one", kept = "yes" } # then { team = "two", added = "yes" }
  lifecycle {
    ignore_changes = [ebs_block_device]
  }
}

resource "aws_instance" "bare" {
  ami           = data.aws_ami.any.id
  instance_type = "t3.micro"
  subnet_id     = data.aws_subnets.default.ids[0]
  lifecycle {
    ignore_changes = [ebs_block_device]
  }
}

resource "aws_launch_template" "seed" {
  name                                 = "seed"
  description                          = "first" # then "second"
  image_id                             = data.aws_ami.any.id
  instance_type                        = "t3.micro" # then "t3.small"
  key_name                             = "first" # then "second"
  ebs_optimized                        = true # then false
  instance_initiated_shutdown_behavior = "stop" # then "terminate"
  user_data                            = base64encode("first") # then base64encode("second")
  disable_api_termination              = false # then true
  vpc_security_group_ids               = [aws_security_group.seed.id] # then []
  update_default_version               = true
  monitoring {
    enabled = true # then false
  }
  iam_instance_profile {
    name = "first" # then "second"
  }
  metadata_options {
    http_tokens = "required" # then "optional"
  }
  block_device_mappings {
    device_name = "/dev/sda1"
    ebs {
      volume_size = 20 # then 30
      volume_type = "gp3" # then "gp2"
    }
  }
  tag_specifications {
    resource_type = "instance"
    tags          = { a = "b" } # then { a = "c" }
  }
  tags = { team = "one" } # then { team = "two" }
}

resource "aws_ebs_volume" "seed" {
  availability_zone = "eu-west-1a"
  size              = 10 # then 20
  type              = "gp3" # then "gp2"
  encrypted         = true
  tags              = { team = "one" } # then { team = "two" }
}

resource "aws_volume_attachment" "seed" {
  device_name = "/dev/sdh"
  volume_id   = aws_ebs_volume.seed.id
  instance_id = aws_instance.bare.id
}

resource "aws_ebs_snapshot" "seed" {
  volume_id   = aws_ebs_volume.seed.id
  description = "seed"
  tags        = { team = "one" } # then { team = "two" }
}

resource "aws_ebs_snapshot_copy" "seed" {
  source_snapshot_id = aws_ebs_snapshot.seed.id
  source_region      = "eu-west-1"
  description        = "seed"
  tags               = { team = "one" } # then { team = "two" }
}

resource "aws_ami" "seed" {
  name                = "seed"
  description         = "first" # then "second"
  virtualization_type = "hvm"
  root_device_name    = "/dev/xvda"
  ebs_block_device {
    device_name = "/dev/xvda"
    snapshot_id = aws_ebs_snapshot.seed.id
    volume_size = 10
  }
  tags = { team = "one" } # then { team = "two" }
}

resource "aws_ami_copy" "seed" {
  name              = "copy"
  description       = "first" # then "second"
  source_ami_id     = data.aws_ami.any.id
  source_ami_region = "eu-west-1"
  tags              = { team = "one" } # then { team = "two" }
}

resource "aws_ami_from_instance" "seed" {
  name                    = "from"
  source_instance_id      = aws_instance.bare.id
  snapshot_without_reboot = true
  tags                    = { team = "one" } # then { team = "two" }
}

resource "aws_ami_launch_permission" "seed" {
  image_id   = aws_ami_from_instance.seed.id
  account_id = "210987654321"
}

resource "aws_key_pair" "seed" {
  key_name   = "seed"
  public_key = "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAgQCsCiMqzLNlAzAdgVSR8FyJRNNiPKaPYgCTyrnFLnNRwCSuA3x2mDHmGeQeGTfhQUVAZXrxbUoITxONr7g4ib7shl9gL0ggnMPrB6wnpRTyHlYEZR5evtB1aBIv0wA95K7zxgNOQZCY1MMBzYNFRmkgHe6NxCOLpFBQSLoU2Sjrfw== seed@example.com"
  tags       = { team = "one" } # then { team = "two" }
}

resource "aws_ec2_tag" "seed" {
  resource_id = aws_instance.bare.id
  key         = "seed"
  value       = "first" # then "second"
}

resource "aws_ec2_host" "seed" {
  availability_zone = "eu-west-1a"
  instance_type     = "m5.large" # then "m5.xlarge"
  auto_placement    = "on" # then "off"
  host_recovery     = "off" # then "on"
  tags              = { team = "one" } # then { team = "two" }
}

resource "aws_ebs_encryption_by_default" "seed" {
  enabled = true # then false
}

resource "aws_ec2_instance_state" "seed" {
  instance_id = aws_instance.bare.id
  state       = "stopped" # then "running"
}

resource "aws_spot_instance_request" "seed" {
  ami           = data.aws_ami.any.id
  instance_type = "t3.micro"
  spot_price    = "0.03"
  tags          = { team = "one" } # then { team = "two" }
}

resource "aws_spot_fleet_request" "seed" {
  iam_fleet_role                      = "arn:aws:iam::123456789012:role/fleet"
  spot_price                          = "0.03"
  target_capacity                     = 1 # then 2
  excess_capacity_termination_policy  = "Default" # then "NoTermination"
  valid_until                         = "2036-11-04T20:44:20Z"
  terminate_instances_with_expiration = true
  launch_specification {
    ami           = data.aws_ami.any.id
    instance_type = "t3.micro"
    subnet_id     = data.aws_subnets.default.ids[0]
  }
  tags = { team = "one" } # then { team = "two" }
}
