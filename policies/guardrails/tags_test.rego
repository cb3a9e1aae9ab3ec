package sentinel.rules.tags_test

import data.sentinel.fixtures
import data.sentinel.rules.tags

config := {"tags": {
	"required": ["owner"],
	"by_stack": {"prod-*": ["owner", "cost-centre"]},
	"values": {"cost-centre": ["shop", "data"]},
	"untagged": ["aws_route"],
}}

found(stack, effects) := findings if {
	document := json.patch(fixtures.document("human", effects), [{"op": "replace", "path": "/stacks", "value": [stack]}])
	findings := tags.findings with input as document with data.data as config
	fixtures.complete(findings)
}

created(type, attribute, value) := [
	fixtures.effect(type, "create", "*", {}),
	fixtures.effect(type, "create", attribute, value),
]

test_what_is_created_needs_the_tags if {
	fixtures.verdicts(found("kafka", created("aws_instance", "ami", "ami-1"))) == {"SEN-G001 deny"}
	fixtures.verdicts(found("kafka", created("aws_instance", "tags", {"owner": ""}))) == {"SEN-G001 deny"}
	found("kafka", created("aws_instance", "tags", {"owner": "me"})) == set()
	found("kafka", created("aws_instance", "tags.owner", "me")) == set()
	found("kafka", [fixtures.effect("aws_instance", "create", "*", {"tags": {"owner": "me"}})]) == set()
	found("kafka", created("aws_route", "route_table_id", "rtb-1")) == set()
}

test_a_stack_has_tags_of_its_own if {
	some finding in found("prod-shop", created("aws_instance", "tags", {"owner": "me"}))
	contains(finding.message, "the required tag cost-centre")
	found("prod-shop", created("aws_instance", "tags", {"owner": "me", "cost-centre": "shop"})) == set()
}

test_tags_are_not_taken_away if {
	replaced := fixtures.effect("aws_instance", "set", "tags", {"name": "x"})
	fixtures.verdicts(found("kafka", [replaced])) == {"SEN-G001 deny"}
	found("kafka", [fixtures.but(replaced, "changes", false)]) == set()
	found("kafka", [fixtures.effect("aws_instance", "set", "instance_type", "t3.micro")]) == set()
}

test_a_required_tag_is_not_taken_away_by_itself if {
	fixtures.verdicts(found("kafka", [fixtures.effect("aws_instance", "set", "tags.owner", null)])) == {"SEN-G001 deny"}
	fixtures.verdicts(found("kafka", [fixtures.effect("aws_instance", "set", "tags.owner", "")])) == {"SEN-G001 deny"}
	found("kafka", [fixtures.effect("aws_instance", "set", "tags.owner", "you")]) == set()
	found("kafka", [fixtures.effect("aws_instance", "set", "tags.other", null)]) == set()
}

test_the_key_of_a_tag_may_have_dots if {
	dotted := {"tags": {"required": ["app.team"], "by_stack": {}, "values": {"app.team": ["data"], "a%2E": ["b"]}, "untagged": []}}
	document := fixtures.document("human", [fixtures.effect("aws_instance", "set", "tags.app%2Eteam", "mine")])
	fixtures.verdicts(tags.findings) == {"SEN-G002 deny"} with input as document with data.data as dotted
	other := fixtures.document("human", [fixtures.effect("aws_instance", "set", "tags.a%252E", "c")])
	fixtures.verdicts(tags.findings) == {"SEN-G002 deny"} with input as other with data.data as dotted
	gone := fixtures.document("human", [fixtures.effect("aws_instance", "set", "tags.app%2Eteam", null)])
	fixtures.verdicts(tags.findings) == {"SEN-G001 deny", "SEN-G002 deny"} with input as gone with data.data as dotted
}

test_the_values_of_a_tag_are_listed if {
	fixtures.verdicts(found("kafka", [fixtures.effect("aws_instance", "set", "tags.cost-centre", "mine")])) == {"SEN-G002 deny"}
	found("kafka", [fixtures.effect("aws_instance", "set", "tags.cost-centre", "data")]) == set()
}

test_it_concerns_what_may_have_other_tags if {
	whole := fixtures.but(fixtures.but(fixtures.effect("aws_instance", "set", "*", null), "basis", "resource"), "may_change", ["tags"])
	document := fixtures.document("agent", [whole])
	tags.concerned == {"aws_instance.x"} with input as document with data.data as config
	none := {"tags": {"required": [], "by_stack": {}, "values": {}, "untagged": []}}
	tags.concerned == set() with input as document with data.data as none
}
