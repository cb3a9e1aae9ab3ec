# Law that comes with the module, wherever it is called from. `var` is the module's.
contract "worker" {
  owner = "team-platform"

  resource "aws_sqs_queue" "this" {
    managed_by_agent = true

    attribute "visibility_timeout_seconds" {
      max = var.visibility * 2
    }
  }
}
