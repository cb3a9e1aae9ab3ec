package sentinel.rules.regions_test

import data.sentinel.fixtures
import data.sentinel.rules.regions

config := {"regions": {"allowed": ["eu-west-1"], "by_stack": {"us-*": ["us-east-1", "us-west-2"]}, "without_regions": ["iam"]}}

found(stack, service, region) := findings if {
	document := fixtures.calls("human", service, "DoSomething", {}, [])
	located := json.patch(document, [
		{"op": "add", "path": "/mutation/region", "value": region},
		{"op": "replace", "path": "/stack", "value": stack},
		{"op": "replace", "path": "/stacks", "value": [stack]},
	])
	findings := regions.findings with input as located with data.data as config
	fixtures.complete(findings)
}

test_only_listed_regions_are_allowed if {
	found("kafka", "ec2", "eu-west-1") == set()
	fixtures.verdicts(found("kafka", "ec2", "us-east-1")) == {"SEN-R001 deny"}
	fixtures.verdicts(found("", "ec2", "us-east-1")) == {"SEN-R001 deny"}
}

test_a_stack_has_regions_of_its_own if {
	found("us-shop", "ec2", "us-west-2") == set()
	fixtures.verdicts(found("us-shop", "ec2", "eu-west-1")) == {"SEN-R001 deny"}
	some finding in found("us-shop", "ec2", "eu-west-1")
	contains(finding.message, "for the stack us-shop. Allowed: us-east-1, us-west-2.")
}

test_what_has_no_region_passes if {
	found("kafka", "iam", "us-east-1") == set()
	found("kafka", "ec2", "") == set()
}

planned(types_by_region) := findings if {
	document := fixtures.calls("pipeline", "terraform", "apply", {}, [])
	plan := json.patch(document, [
		{"op": "add", "path": "/mutation/region", "value": ""},
		{"op": "add", "path": "/mutation/regions", "value": types_by_region},
	])
	findings := regions.findings with input as plan with data.data as config
	fixtures.complete(findings)
}

test_a_plan_is_judged_by_the_regions_of_its_providers if {
	planned({}) == set()
	planned({"eu-west-1": ["aws_sqs_queue"]}) == set()
	fixtures.verdicts(planned({"eu-west-1": ["aws_sqs_queue"], "us-east-1": ["aws_sqs_queue"]})) == {"SEN-R001 deny"}
	planned({"us-east-1": ["aws_iam_role", "aws_iam_policy"]}) == set()
	count(planned({"us-east-1": ["aws_iam_role", "aws_sns_topic"], "us-west-2": ["aws_sqs_queue"]})) == 2
}

test_an_empty_list_allows_every_region if {
	document := json.patch(fixtures.document("agent", []), [{"op": "add", "path": "/mutation/region", "value": "ap-east-1"}])
	empty := {"regions": {"allowed": [], "by_stack": {}, "without_regions": []}}
	regions.findings == set() with input as document with data.data as empty
}

test_it_concerns_no_attribute if count(regions.concerned) == 0
