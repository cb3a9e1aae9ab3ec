package sentinel.lib.documents_test

import data.sentinel.fixtures
import data.sentinel.lib.documents

statement := {"Effect": "Allow", "Action": "sqs:SendMessage", "Resource": "*"}

test_one_statement_is_as_good_as_a_list_of_one if {
	documents.statements({"Statement": statement}) == [statement] with data.data as fixtures.config
	documents.statements(json.marshal({"Statement": [statement]})) == [statement] with data.data as fixtures.config
	documents.statements("nonsense") == [] with data.data as fixtures.config
	documents.statements("[]") == [] with data.data as fixtures.config
}

test_what_is_denied_is_not_allowed if {
	denial := object.union(statement, {"Effect": "Deny"})
	odd := object.union(statement, {"Effect": "Perhaps"})
	documents.allowing({"Statement": [denial, statement, odd, 7]}) == [statement, odd] with data.data as fixtures.config
}

test_each_kind_has_its_elements if {
	granted := object.union(statement, {"Principal": {"Service": "ec2.amazonaws.com"}})
	documents.readable({"Statement": [statement]}, "identity") with data.data as fixtures.config
	not documents.readable({"Statement": [statement]}, "resource") with data.data as fixtures.config
	documents.readable({"Statement": [granted]}, "resource") with data.data as fixtures.config
	documents.readable({"Statement": [object.remove(granted, ["Resource"])]}, "trust") with data.data as fixtures.config
	not documents.readable({"Statement": [granted]}, "identity") with data.data as fixtures.config
}
