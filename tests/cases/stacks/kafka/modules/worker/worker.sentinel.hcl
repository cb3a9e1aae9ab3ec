# The contract of the module, for each of its calls. `var` refers to the module's variables.
contract "worker" {
  owner = "team-platform"

  resource "aws_sqs_queue" "this" {
    managed_by_agent = true

    attribute "visibility_timeout_seconds" {
      max = var.visibility * 2
    }
  }
}
