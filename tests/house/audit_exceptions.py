"""The findings that `make audit` lets pass, each with its reason; an exception no longer used fails the audit."""

from __future__ import annotations

from typing import NamedTuple

_FOR_TYPES = (
    "narrows a type that is known by construction; nothing depends on its being run"
)
_MEASURED = (
    "starts what is measured: no shell, and its commands are the benchmarks' own"
)
_BOUND = "joins constants of its own module; what comes from outside is bound"
_STARTING = (
    "benchmarks/cluster/fleet.py",
    "benchmarks/cluster/setting.py",
    "benchmarks/documents/running.py",
    "benchmarks/bench/in_flight.py",
    "benchmarks/bench/size.py",
    "benchmarks/bench/starting.py",
)
_QUERIES = (
    "access/keys.py",
    "access/ledgers.py",
    "workers/shared_access.py",
    "traces/conversation_list.py",
    "traces/conversation_path.py",
    "traces/conversations.py",
    "traces/listing.py",
)
_CHANCE = "chance for tests, faults or ids that are no secrets"


class Allowed(NamedTuple):
    """One kind of finding in one file.

    Attributes:
        rule: The rule's id.
    """

    rule: str
    file: str
    why: str


CALLS = (
    *(
        Allowed("B101", file, _FOR_TYPES)
        for file in (
            "api/errors.py",
            "benchmarks/cluster/fleet.py",
            "api/query_schemas.py",
            "api/routes/forks.py",
            "cli/faults_random.py",
            "dispatcher/mcp_servers/transports.py",
            "doors/mcp/routes.py",
            "faults/checks/answers.py",
            "faults/results.py",
            "faults/runs/query.py",
            "history/explaining.py",
            "history/history.py",
            "history/recorded_ports.py",
            "knowledge/building.py",
            "knowledge/loading.py",
            "service/indexing_runs.py",
            "service/network_forks.py",
            "workers/shared_trace.py",
        )
    ),
    *(
        Allowed("B311", file, _CHANCE)
        for file in (
            "benchmarks/capacity.py",
            "benchmarks/soak/scripted_model.py",
            "cluster/shared_state.py",
            "benchmarks/bench/size.py",
            "benchmarks/soak/__main__.py",
            "engine/offline/playing.py",
            "faults/proxy/verdict.py",
            "faults/runs/pairs.py",
            "faults/runs/random_runs.py",
        )
    ),
    Allowed("B404", "cli/faults_serving.py", "runs the agent that the user names on the command line"),
    Allowed("B603", "cli/faults_serving.py", "no shell; the command is the user's own, as they typed it"),
    Allowed("B404", "knowledge/reading_process.py", "reads files in a process of its own, whose command is fixed"),
    Allowed("B603", "knowledge/reading_process.py", "no shell, and no word of anybody's in the command"),
    Allowed("B404", "knowledge/embedders/onnx.py", "changes the model in a process of its own, whose command is fixed"),
    Allowed("B603", "knowledge/embedders/onnx.py", "no shell, and no word of anybody's in the command"),
    Allowed("B506", "knowledge/readers/yaml_values.py", "its loader is a safe one, which passes over tags of programs"),
    Allowed("B404", "benchmarks/processes.py", "starts the servers that are measured"),
    Allowed("B603", "benchmarks/processes.py", "no shell, and its commands are the benchmarks' own"),
    Allowed("B310", "benchmarks/processes.py", "opens an address on loopback that it has made itself"),
    Allowed("B310", "benchmarks/cluster/fleet.py", "opens an address on loopback that it has made itself"),
    Allowed("B310", "benchmarks/cluster/kills.py", "opens an address on loopback that it has made itself"),
    Allowed("B310", "benchmarks/bench/starting.py", "opens an address on loopback that it has made itself"),
    *(Allowed("B404", file, _MEASURED) for file in _STARTING),
    *(Allowed("B603", file, _MEASURED) for file in _STARTING),
    *(Allowed("B608", file, _BOUND) for file in _QUERIES),
)  # fmt: skip
"""Findings of bandit (https://bandit.readthedocs.io/en/latest/plugins/)."""

SECRETS = (
    Allowed("Secret Keyword", "benchmarks/cluster/setting.py", "made up, for a model server of the benchmark's own"),
    Allowed("Secret Keyword", "benchmarks/cluster/throughput.py", "made up, for a model server of the benchmark's own"),
    Allowed("Secret Keyword", "benchmarks/bench/dollars.py", "made up, for a model server of the benchmark's own"),
    Allowed("Secret Keyword", "benchmarks/soak/__main__.py", "made up, for a model server of the benchmark's own"),
    Allowed("Secret Keyword", "cli/faults_serving.py", "no key: the word that an agent is given in the place of one"),
    Allowed("Secret Keyword", "tests/e2e/test_fault_proxy.py", "made up, for an agent that asks a double"),
    Allowed("Secret Keyword", "composition/settings.py", "the pattern of an alias, no value"),
    Allowed("Hex High Entropy String", "knowledge/embedders/choosing.py", "hashes of the weights, which are public"),
    Allowed("Base64 High Entropy String", "knowledge/readers/word_text.py", "the letters of an alphabet"),
    Allowed("Private Key", "tests/data/self-signed.pem", "a certificate of the tests for 127.0.0.1"),
    Allowed("Secret Keyword", "tests/hostile_files.py", "the password of an encrypted file that is refused"),
    *(
        Allowed(rule, file, "made up, to be redacted or hidden by what is tested")
        for rule, file in (
            ("AWS Access Key", "tests/hostile/test_redaction_by_name.py"),
            ("Base64 High Entropy String", "tests/hostile/test_redaction_by_name.py"),
            ("GitHub Token", "tests/hostile/test_redaction_by_name.py"),
            ("Hex High Entropy String", "tests/hostile/test_redaction_by_name.py"),
            ("JSON Web Token", "tests/hostile/test_redaction_by_name.py"),
            ("Secret Keyword", "tests/hostile/test_redaction_by_name.py"),
            ("Slack Token", "tests/hostile/test_redaction_by_name.py"),
            ("Secret Keyword", "tests/hostile/test_injection.py"),
            ("Secret Keyword", "tests/hostile/test_foreign_traces.py"),
            ("Secret Keyword", "tests/hostile/test_mcp_definitions.py"),
            ("Hex High Entropy String", "tests/hostile/test_mcp_definitions.py"),
            ("Basic Auth Credentials", "tests/e2e/test_queue_command.py"),
            ("Basic Auth Credentials", "tests/integration/test_cluster_connection.py"),
            ("Secret Keyword", "tests/integration/test_cluster_connection.py"),
            ("Basic Auth Credentials", "tests/integration/test_engine_bad_connections.py"),
            ("Basic Auth Credentials", "tests/integration/test_knowledge_chroma_server.py"),
            ("Basic Auth Credentials", "tests/integration/test_model_settings.py"),
            ("Secret Keyword", "tests/integration/test_redaction.py"),
            ("Secret Keyword", "tests/traces/test_joined_passages.py"),
            ("Basic Auth Credentials", "tests/unit/bus/test_failure_words.py"),
            ("Basic Auth Credentials", "tests/unit/cli/test_cli_checks.py"),
            ("Basic Auth Credentials", "tests/unit/cli/test_cli_terminal.py"),
            ("Secret Keyword", "tests/unit/composition/test_env_file.py"),
            ("Basic Auth Credentials", "tests/unit/composition/test_logs.py"),
            ("Secret Keyword", "tests/unit/composition/test_redaction_settings.py"),
            ("Secret Keyword", "tests/unit/traces/test_redacting.py"),
            ("Basic Auth Credentials", "tests/unit/vocabulary/test_outside.py"),
        )
    ),
    *(
        Allowed("Hex High Entropy String", file, "an id of a trace, a hash or a key that is made up")
        for file in (
            "tests/e2e/test_telemetry.py",
            "tests/data/foreign/genai.json",
            "tests/data/foreign/langfuse.json",
            "tests/data/foreign/openinference.json",
            "tests/data/foreign/phoenix-columns.json",
            "tests/data/foreign/pydantic-ai.json",
            "tests/integration/test_telemetry.py",
            "tests/unit/engine/test_request.py",
        )
    ),
)  # fmt: skip
"""Findings of detect-secrets (https://github.com/Yelp/detect-secrets)."""

LICENCES = {
    "MIT", "MIT-0", "MIT-CMU", "BSD-2-Clause", "BSD-3-Clause", "0BSD", "Apache-2.0", "ISC", "PSF-2.0", "Python-2.0",
    "Unlicense", "Zlib", "MPL-2.0", "CC0-1.0", "HPND", "BSD", "Apache", "BSL-1.0", "Apache-2.0 WITH LLVM-exception",
    "NCSA", "libtiff", "CNRI-Python",
}  # fmt: skip
"""Licences that may be shipped with an Apache-2.0 program; MPL-2.0 only for unmodified files."""

LICENCE_EXCEPTIONS = {
    "sqlcipher3": "it names none; its LICENSE is that of zlib, and SQLCipher's own is BSD-3-Clause",
    "pypdfium2": "BSD-3-Clause or Apache-2.0; the libraries in pdfium permit as much (FreeType, IJG, ICU …)",
    "locate": "its LICENSE is the MIT licence; its classifier says otherwise",
}
"""Packages whose metadata misstates the licence that they ship."""
