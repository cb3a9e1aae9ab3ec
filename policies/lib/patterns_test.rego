package sentinel.lib.patterns_test

import data.sentinel.fixtures
import data.sentinel.lib.patterns

test_patterns_match_what_they_mean if {
	every pattern in ["*", "**", "?*", "iam:*", "iam:p?ssrole", "*:passrole", "i*:*role", "iam:pass*role"] {
		patterns.matches(pattern, "iam:passrole") with data.data as fixtures.config
	}
	every pattern in ["iam:passrole", "sqs:*", "*:deleterole", "iam:get*", "x*passrole"] {
		not patterns.matches(pattern, "iam:passrole") with data.data as fixtures.config
	}
}

test_a_name_makes_a_resource_particular if {
	every resource in ["*", "arn:aws:s3:::*", "arn:aws:s3:::lo*", "arn:aws:lambda:us-east-1:123456789012:function:*", "arn:aws:?:a:b:role/app-*"] {
		patterns.everywhere(resource) with data.data as fixtures.config
	}
	every resource in ["arn:aws:s3:::logs*", "arn:aws:lambda:us-east-1:123456789012:function:orders-*", "arn:aws:s3:::b"] {
		not patterns.everywhere(resource) with data.data as fixtures.config
	}
}
