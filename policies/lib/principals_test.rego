package sentinel.lib.principals_test

import data.sentinel.fixtures
import data.sentinel.lib.principals

test_the_account_of_a_principal if {
	principals.account("123456789012") == "123456789012"
	principals.account("arn:aws:iam::123456789012:role/x") == "123456789012"
	every text in ["AIDAEXAMPLE", "arn:aws:s3:::b", "arn", "arn:aws", "arn:aws:iam::12345678901x:root", "12345678901"] {
		principals.account(text) == "unknown"
	}
}

test_where_no_account_is_known_everybody_is_a_stranger if {
	document := json.patch(fixtures.document("human", []), [{"op": "remove", "path": "/mutation/account"}])
	found := principals.strangers({"Principal": {"AWS": "123456789012"}}) with input as document with data.data as fixtures.config
	found == {"123456789012"}
}
