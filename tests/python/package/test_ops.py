"""Operators that the user describes (``ops=``)."""
import json
import unittest

import assay
from support import FLOAT, InFolder, model_of

RULES = {
    "schema": "assay.ops/1",
    "operators": [
        {
            "op": "Neg",
            "inputs": ["x"],
            "outputs": [{"shape": "x"}],
            "cost": {"mac": "3 * size(x)"},
        }
    ],
}


class UserOperators(InFolder):
    def test_rules_count(self) -> None:
        with open("rules.json", "w") as f:
            json.dump(RULES, f)
        model = model_of("Neg", [("x", FLOAT, (2, 5))], [("y", FLOAT, (2, 5))])
        self.assertEqual(assay.graph(model).total_macs, 0)
        result = assay.graph(model, ops="rules.json", strict=True)
        self.assertEqual(result.total_macs, 30)
        self.assertEqual(result["layers"][0]["certainty"], "user-defined")
        self.assertEqual(
            [dict(u) for u in result["user_operators"]],
            [{"op": "Neg", "file": "rules.json", "nodes": 1}],
        )

    def test_a_rule_that_cannot_be_computed(self) -> None:
        rules = json.loads(json.dumps(RULES).replace("3 * size(x)", "1 / 0"))
        with open("rules.json", "w") as f:
            json.dump(rules, f)
        model = model_of("Neg", [("x", FLOAT, (2, 5))], [("y", FLOAT, (2, 5))])
        with self.assertRaises(assay.MalformedError):
            assay.graph(model, ops="rules.json")


if __name__ == "__main__":
    unittest.main()
