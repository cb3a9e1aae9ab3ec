output "summary" {
  value = "${aws_lambda_function.this.function_name}: ${aws_lambda_function.this.memory_size} MB, ${module.jobs.visibility} s"
}
