data "aws_subnets" "default" {}

resource "aws_security_group" "seed" {
  name = "truth-batch"
}

resource "aws_iam_role" "seed" {
  name               = "truth-batch"
  assume_role_policy = jsonencode({ Version = "2012-10-17", Statement = [{ Effect = "Allow", Principal = { Service = ["batch.amazonaws.com", "eks.amazonaws.com", "elasticmapreduce.amazonaws.com"] }, Action = "sts:AssumeRole" }] })
}

resource "aws_batch_compute_environment" "seed" {
  compute_environment_name = "seed"
  type                     = "UNMANAGED"
  service_role             = aws_iam_role.seed.arn
  state                    = "ENABLED" # then "DISABLED"
}

resource "aws_batch_compute_environment" "managed" {
  compute_environment_name = "managed"
  type                     = "MANAGED"
  service_role             = aws_iam_role.seed.arn
  compute_resources {
    type               = "FARGATE"
    max_vcpus          = 16
    security_group_ids = [aws_security_group.seed.id]
    subnets            = [data.aws_subnets.default.ids[0]]
  }
}

resource "aws_batch_job_queue" "seed" {
  name     = "seed"
  state    = "ENABLED" # then "DISABLED"
  priority = 1 # then 2
  compute_environment_order {
    order               = 1
    compute_environment = aws_batch_compute_environment.managed.arn
  }
  tags = { team = "one" } # then { team = "two" }
}

resource "aws_batch_job_definition" "seed" {
  name                  = "seed"
  type                  = "container"
  container_properties  = jsonencode({ command = ["date"], image = "busybox", resourceRequirements = [{ type = "VCPU", value = "1" }, { type = "MEMORY", value = "512" }], environment = [], mountPoints = [], secrets = [], ulimits = [], volumes = [] })
  tags                  = { team = "one" } # then { team = "two" }
}

resource "aws_batch_scheduling_policy" "seed" {
  name = "seed"
  fair_share_policy {
    compute_reservation = 1 # then 2
    share_decay_seconds = 3600 # then 7200
  }
  tags = { team = "one" } # then { team = "two" }
}

resource "aws_eks_cluster" "seed" {
  name     = "seed"
  role_arn = aws_iam_role.seed.arn
  version  = "1.30"
  vpc_config {
    subnet_ids = [data.aws_subnets.default.ids[0], data.aws_subnets.default.ids[1]]
  }
  tags = { team = "one" } # then { team = "two" }
}

resource "aws_eks_node_group" "seed" {
  cluster_name    = aws_eks_cluster.seed.name
  node_group_name = "seed"
  node_role_arn   = aws_iam_role.seed.arn
  subnet_ids      = [data.aws_subnets.default.ids[0]]
  scaling_config {
    desired_size = 1 # then 2
    max_size     = 3 # then 4
    min_size     = 1
  }
  labels = { a = "b" } # then { a = "c" }
  tags   = { team = "one" } # then { team = "two" }
}

resource "aws_eks_fargate_profile" "seed" {
  cluster_name           = aws_eks_cluster.seed.name
  fargate_profile_name   = "seed"
  pod_execution_role_arn = aws_iam_role.seed.arn
  subnet_ids             = [data.aws_subnets.default.ids[0]]
  selector {
    namespace = "seed"
  }
  tags = { team = "one" } # then { team = "two" }
}

resource "aws_emr_security_configuration" "seed" {
  name          = "seed"
  configuration = jsonencode({ EncryptionConfiguration = { EnableInTransitEncryption = false, EnableAtRestEncryption = false } })
}

resource "aws_emr_cluster" "seed" {
  name                              = "seed"
  release_label                     = "emr-6.15.0"
  applications                      = ["Spark"]
  service_role                      = aws_iam_role.seed.arn
  termination_protection            = false
  keep_job_flow_alive_when_no_steps = true
  visible_to_all_users              = true # then false
  master_instance_group {
    instance_type = "m5.xlarge"
  }
  core_instance_group {
    instance_type  = "m5.xlarge"
    instance_count = 1 # then 2
  }
  ec2_attributes {
    instance_profile = "seed"
    subnet_id        = data.aws_subnets.default.ids[0]
  }
  tags = { team = "one" } # then { team = "two" }
}

resource "aws_emr_instance_group" "seed" {
  cluster_id     = aws_emr_cluster.seed.id
  instance_type  = "m5.xlarge"
  instance_count = 1 # then 2
  name           = "seed"
}

resource "aws_emrcontainers_virtual_cluster" "seed" {
  name = "seed"
  container_provider {
    id   = aws_eks_cluster.seed.name
    type = "EKS"
    info {
      eks_info {
        namespace = "default"
      }
    }
  }
  tags = { team = "one" } # then { team = "two" }
}
