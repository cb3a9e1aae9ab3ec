data "aws_vpc" "default" {
  default = true
}

resource "aws_service_discovery_http_namespace" "seed" {
  name        = "seed-http"
  description = "first" # then "second"
  tags        = { team = "one" } # then { team = "two" }
}

resource "aws_service_discovery_private_dns_namespace" "seed" {
  name        = "seed.local"
  description = "first" # then "second"
  vpc         = data.aws_vpc.default.id
  tags        = { team = "one" } # then { team = "two" }
}

resource "aws_service_discovery_public_dns_namespace" "seed" {
  name        = "seed.example.org"
  description = "first" # then "second"
  tags        = { team = "one" } # then { team = "two" }
}

resource "aws_service_discovery_service" "seed" {
  name        = "seed"
  description = "first" # then "second"
  dns_config {
    namespace_id = aws_service_discovery_private_dns_namespace.seed.id
    dns_records {
      ttl  = 10 # then 20
      type = "A"
    }
    routing_policy = "MULTIVALUE"
  }
  tags = { team = "one" } # then { team = "two" }
}

resource "aws_service_discovery_instance" "seed" {
  instance_id = "seed"
  service_id  = aws_service_discovery_service.seed.id
  attributes  = { AWS_INSTANCE_IPV4 = "10.0.0.1" } # then { AWS_INSTANCE_IPV4 = "10.0.0.2" }
}

resource "aws_appmesh_mesh" "seed" {
  name = "seed"
  spec {
    egress_filter {
      type = "ALLOW_ALL" # then "DROP_ALL"
    }
  }
  tags = { team = "one" } # then { team = "two" }
}

resource "aws_appmesh_virtual_node" "seed" {
  name      = "seed"
  mesh_name = aws_appmesh_mesh.seed.name
  spec {
    listener {
      port_mapping {
        port     = 8080 # then 8081
        protocol = "http"
      }
    }
    service_discovery {
      dns {
        hostname = "a.example.com" # then "b.example.com"
      }
    }
  }
  tags = { team = "one" } # then { team = "two" }
}

resource "aws_appmesh_virtual_router" "seed" {
  name      = "seed"
  mesh_name = aws_appmesh_mesh.seed.name
  spec {
    listener {
      port_mapping {
        port     = 8080 # then 8081
        protocol = "http"
      }
    }
  }
  tags = { team = "one" } # then { team = "two" }
}

resource "aws_appmesh_route" "seed" {
  name                = "seed"
  mesh_name           = aws_appmesh_mesh.seed.name
  virtual_router_name = aws_appmesh_virtual_router.seed.name
  spec {
    http_route {
      match {
        prefix = "/" # then "/a"
      }
      action {
        weighted_target {
          virtual_node = aws_appmesh_virtual_node.seed.name
          weight       = 90 # then 80
        }
      }
    }
  }
  tags = { team = "one" } # then { team = "two" }
}

resource "aws_appsync_graphql_api" "seed" {
  name                = "first" # then "second"
  authentication_type = "API_KEY"
  xray_enabled        = false # then true
  schema              = "type Query { a: String }\nschema { query: Query }\n"
  tags                = { team = "one" } # then { team = "two" }
}

resource "aws_appsync_api_key" "seed" {
  api_id      = aws_appsync_graphql_api.seed.id
  description = "first" # then "second"
  expires     = "2027-05-03T04:00:00Z" # then "2027-06-03T04:00:00Z"
}

resource "aws_appsync_api_cache" "seed" {
  api_id               = aws_appsync_graphql_api.seed.id
  api_caching_behavior = "FULL_REQUEST_CACHING" # then "PER_RESOLVER_CACHING"
  type                 = "LARGE"
  ttl                  = 900 # then 1000
}

resource "aws_prometheus_workspace" "seed" {
  alias = "first" # then "second"
  tags  = { team = "one" } # then { team = "two" }
}

resource "aws_prometheus_rule_group_namespace" "seed" {
  name         = "seed"
  workspace_id = aws_prometheus_workspace.seed.id
  data         = "groups:\n  - name: a\n    rules:\n    - record: a\n      expr: vector(1)\n" # then "groups:\n  - name: a\n    rules:\n    - record: a\n      expr: vector(2)\n"
}

resource "aws_vpclattice_service_network" "seed" {
  name      = "seed"
  auth_type = "NONE"
  tags      = { team = "one" } # then { team = "two" }
}

resource "aws_vpclattice_service" "seed" {
  name      = "seed"
  auth_type = "NONE"
  tags      = { team = "one" } # then { team = "two" }
}

resource "aws_networkmanager_global_network" "seed" {
  description = "first"
  tags        = { team = "one" } # then { team = "two" }
}

resource "aws_networkmanager_site" "seed" {
  global_network_id = aws_networkmanager_global_network.seed.id
  description       = "first"
  tags              = { team = "one" } # then { team = "two" }
}

resource "aws_networkmanager_device" "seed" {
  global_network_id = aws_networkmanager_global_network.seed.id
  site_id           = aws_networkmanager_site.seed.id
  description       = "first"
  model             = "first"
  tags              = { team = "one" } # then { team = "two" }
}

resource "aws_networkmanager_link" "seed" {
  global_network_id = aws_networkmanager_global_network.seed.id
  site_id           = aws_networkmanager_site.seed.id
  description       = "first"
  bandwidth {
    download_speed = 10
    upload_speed   = 5
  }
  tags = { team = "one" } # then { team = "two" }
}

resource "aws_dx_connection" "seed" {
  name      = "seed"
  bandwidth = "1Gbps"
  location  = "EqDC2"
  tags      = { team = "one" } # then { team = "two" }
}

resource "aws_dx_lag" "seed" {
  name                  = "first" # then "second"
  connections_bandwidth = "1Gbps"
  location              = "EqDC2"
  tags                  = { team = "one" } # then { team = "two" }
}
