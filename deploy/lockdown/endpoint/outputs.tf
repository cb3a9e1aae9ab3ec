output "endpoint_ids" {
  description = "Ids of the endpoints by service."
  value       = { for service, endpoint in merge(aws_vpc_endpoint.interface, aws_vpc_endpoint.gateway) : service => endpoint.id }
}
