package sentinel.rules.instance_families_test

import data.sentinel.fixtures
import data.sentinel.rules.instance_families

config := {"instance_families": {
	"attributes": {"aws_instance": "instance_type", "aws_db_instance": "instance_class", "aws_opensearch_domain": "cluster_config.instance_type"},
	"allowed": ["t4g", "m7*"],
	"by_stack": {"ml-*": ["g5"]},
}}

found(stack, effect) := findings if {
	document := json.patch(fixtures.document("human", [effect]), [{"op": "replace", "path": "/stacks", "value": [stack]}])
	findings := instance_families.findings with input as document with data.data as config
	fixtures.complete(findings)
}

test_only_listed_families_are_allowed if {
	found("kafka", fixtures.effect("aws_instance", "set", "instance_type", "m7g.large")) == set()
	fixtures.verdicts(found("kafka", fixtures.effect("aws_instance", "set", "instance_type", "p4d.24xlarge"))) == {"SEN-Y001 deny"}
	fixtures.verdicts(found("kafka", fixtures.effect("aws_db_instance", "create", "instance_class", "db.r5.large"))) == {"SEN-Y001 deny"}
	found("kafka", fixtures.effect("aws_db_instance", "create", "*", {"instance_class": "db.t4g.micro"})) == set()
	domain := fixtures.effect("aws_opensearch_domain", "set", "cluster_config", {"instance_type": "c5.large.search"})
	fixtures.verdicts(found("kafka", domain)) == {"SEN-Y001 deny"}
	found("kafka", fixtures.effect("aws_sqs_queue", "set", "name", "p4d.24xlarge")) == set()
}

test_a_stack_has_families_of_its_own if {
	found("ml-train", fixtures.effect("aws_instance", "set", "instance_type", "g5.xlarge")) == set()
	some finding in found("ml-train", fixtures.effect("aws_instance", "set", "instance_type", "t4g.micro"))
	contains(finding.message, "the family t4g is not allowed. Allowed: g5.")
}

test_what_does_not_change_passes if {
	found("kafka", fixtures.but(fixtures.effect("aws_instance", "set", "instance_type", "p4d.24xlarge"), "changes", false)) == set()
}

test_it_concerns_what_may_have_another_type if {
	whole := fixtures.but(fixtures.but(fixtures.effect("aws_instance", "set", "*", null), "basis", "resource"), "may_change", ["instance_type"])
	document := fixtures.document("agent", [whole])
	instance_families.concerned == {"aws_instance.x"} with input as document with data.data as config
}
