#!/usr/bin/env python3
"""The GitHub Action: runs `assay check`, adds the report to the job's summary and the pull request.

Reads INPUT_* (action.yml) and the GITHUB_* variables of a job. `assay` must be in PATH, or ASSAY
names it. The inputs are words of a command line, never of a shell. Exits as `assay check` does; a
comment that cannot be written is a warning. Standard library only.
"""
import json
import os
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from typing import Any, List, Optional

COMMENT_BYTES = 60000  # GitHub takes 65536 characters
TIMEOUT_S = 30
PAGES = 10  # of comments that are looked through for an earlier one


def given(name: str) -> str:
    return os.environ.get(f"INPUT_{name}", "").strip()


def command(result: str, report: str) -> List[str]:
    words = [os.environ.get("ASSAY", "assay"), "check", given("MODEL")]
    if given("THRESHOLD"):
        words += ["--threshold", *given("THRESHOLD").split()]
    if given("BASELINE"):
        words += ["--baseline", given("BASELINE")]
    words += [line.strip() for line in given("OPTIONS").splitlines() if line.strip()]
    return [*words, "-o", result, "-o", report]


def verdict_of(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as f:
            return str(json.load(f).get("verdict", ""))
    except (OSError, ValueError):
        return ""


def append(variable: str, text: str) -> None:
    path = os.environ.get(variable)
    if path:
        with open(path, "a", encoding="utf-8") as f:
            f.write(text)


def ask(method: str, path: str, body: Optional[Any] = None) -> Any:
    request = urllib.request.Request(
        os.environ.get("GITHUB_API_URL", "https://api.github.com") + path,
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={
            "Authorization": f"Bearer {given('TOKEN')}",
            "Accept": "application/vnd.github+json",
            "Content-Type": "application/json",
            "User-Agent": "assay-action",
        },
    )
    with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:
        return json.loads(answer.read() or b"null")


def pull_request() -> Optional[int]:
    """Its number, from the event of the job; None: the job is not of a pull request."""
    try:
        with open(os.environ.get("GITHUB_EVENT_PATH", ""), encoding="utf-8") as f:
            event = json.load(f)
    except (OSError, ValueError):
        return None
    number = event.get("pull_request", {}).get("number")
    return number if isinstance(number, int) else None


def earlier_comment(issue: str, mark: str) -> Optional[int]:
    for page in range(1, PAGES + 1):
        comments = ask("GET", f"{issue}/comments?per_page=100&page={page}")
        for c in comments:
            if str(c.get("body", "")).startswith(mark):
                return int(c["id"])
        if len(comments) < 100:
            break
    return None


def comment(report: str) -> None:
    number = pull_request()
    if given("COMMENT") == "false" or number is None:
        return
    repository = f"/repos/{os.environ['GITHUB_REPOSITORY']}"
    mark = f"<!-- assay: {given('TITLE').replace('--', '')} -->"
    text = report.encode()[:COMMENT_BYTES].decode(errors="ignore")
    body = {"body": f"{mark}\n{text}"}
    before = earlier_comment(f"{repository}/issues/{number}", mark)
    if before is None:
        ask("POST", f"{repository}/issues/{number}/comments", body)
    else:
        ask("PATCH", f"{repository}/issues/comments/{before}", body)


def main() -> int:
    if not given("MODEL"):
        print("::error::the input `model` is required")
        return 2
    with tempfile.TemporaryDirectory() as folder:
        result, path = os.path.join(folder, "check.json"), os.path.join(folder, "check.md")
        # The summary of the job is written here, once.
        quiet = {k: v for k, v in os.environ.items() if k != "GITHUB_STEP_SUMMARY"}
        code = subprocess.run(command(result, path), env=quiet, check=False).returncode
        verdict, report = verdict_of(result), ""
        if os.path.exists(path):
            with open(path, encoding="utf-8") as f:
                report = f.read()
    append("GITHUB_OUTPUT", f"verdict={verdict}\nexit-code={code}\n")
    if report:
        append("GITHUB_STEP_SUMMARY", report + "\n")
        try:
            comment(report)
        except (OSError, ValueError, KeyError, urllib.error.URLError) as error:
            print(f"::warning::the comment could not be written: {error}")
    return code


if __name__ == "__main__":
    sys.exit(main())
