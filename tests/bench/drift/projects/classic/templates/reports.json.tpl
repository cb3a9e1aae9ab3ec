{
  "Version": "2012-10-17",
  "Statement": [
    {
      "Sid": "Read",
      "Effect": "Allow",
      "Principal": { "AWS": ${jsonencode(readers)} },
      "Action": ["s3:GetObject"],
      "Resource": "${bucket}/*"
    }
  ]
}
