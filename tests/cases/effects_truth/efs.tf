data "aws_subnets" "default" {}

resource "aws_security_group" "seed" {
  name = "truth-efs"
}

resource "aws_security_group" "second" {
  name = "truth-efs-second"
}

resource "aws_efs_file_system" "seed" {
  creation_token   = "seed"
  performance_mode = "generalPurpose"
  throughput_mode  = "bursting"
  lifecycle_policy {
    transition_to_ia = "AFTER_30_DAYS" # then "AFTER_60_DAYS"
  }
  tags = { team = "one", kept = "yes" } # then { team = "two", added = "yes" }
}

resource "aws_efs_mount_target" "seed" {
  file_system_id  = aws_efs_file_system.seed.id
  subnet_id       = data.aws_subnets.default.ids[0]
  security_groups = [aws_security_group.seed.id] # then [aws_security_group.second.id]
}

resource "aws_efs_access_point" "seed" {
  file_system_id = aws_efs_file_system.seed.id
  posix_user {
    gid = 1000
    uid = 1000
  }
  root_directory {
    path = "/seed"
    creation_info {
      owner_gid   = 1000
      owner_uid   = 1000
      permissions = "755"
    }
  }
  tags = { team = "one" } # then { team = "two" }
}
