"""Whether files are JUnit XML as the common readers take it (the rules of Ant's and Jenkins' junit
XSD): testsuites of testsuite with its attributes; properties, then testcase elements, then
system-out and system-err; counts that are those of the cases; a failure or an error with type and
message.
usage: check_junit.py FILE ..."""
import re
import sys
import xml.etree.ElementTree as ET

SUITE = {"id", "package", "name", "timestamp", "hostname", "tests", "failures", "errors", "time"}


def check_case(case):
    assert case.tag == "testcase" and set(case.attrib) == {"classname", "name", "time"}, case.attrib
    assert float(case.attrib["time"]) >= 0
    assert len(case) <= 1
    for child in case:
        assert child.tag in ("failure", "error"), child.tag
        assert child.attrib["type"] and child.attrib["message"] and child.text


def check_suite(suite):
    assert suite.tag == "testsuite" and set(suite.attrib) == SUITE, suite.attrib
    a = suite.attrib
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", a["timestamp"]), a["timestamp"]
    tags = [c.tag for c in suite]
    cases = suite.findall("testcase")
    assert tags == ["properties"] + ["testcase"] * len(cases) + ["system-out", "system-err"], tags
    for p in suite.find("properties"):
        assert p.tag == "property" and set(p.attrib) == {"name", "value"}
    for c in cases:
        check_case(c)
    assert int(a["tests"]) == len(cases)
    assert int(a["failures"]) == sum(c.find("failure") is not None for c in cases)
    assert int(a["errors"]) == sum(c.find("error") is not None for c in cases)
    return "%s tests, %s failures, %s errors" % (a["tests"], a["failures"], a["errors"])


for path in sys.argv[1:]:
    root = ET.parse(path).getroot()
    assert root.tag == "testsuites" and len(root) == 1 and not root.attrib
    print("%s: %s" % (path, check_suite(root[0])))
