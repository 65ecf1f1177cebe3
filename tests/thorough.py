"""The tests that only `make test-all` runs: slow ones, and those that need dozens of processes, browsers and servers.

`make test` keeps the tests that prove a promise from outside within six minutes: the fault matrix, the recorded
corpus, the scenarios, questions over HTTP and the command line, the first pages, and one question in a browser.
"""

from __future__ import annotations

THOROUGH = (
    # Every view in a browser.
    "browser/",
    # Other people's clients and servers.
    "clients/",
    "e2e/test_agui_door.py",
    "e2e/test_mcp_door.py",
    "e2e/test_mcp_tools.py",
    "e2e/test_openai_door.py",
    "e2e/test_own_readers.py",
    "e2e/test_schema.py",
    "e2e/test_wheel.py",
    # A cluster's processes and servers.
    "cluster/",
    "e2e/test_cluster_script.py",
    "e2e/test_queue_command.py",
    "integration/test_remote_acting.py",
    "integration/test_cluster_connection.py",
    "integration/test_cluster_list.py",
    "integration/test_cluster_of_three.py",
    "integration/test_network_cut.py",
    "integration/test_revoked_streams.py",
    "faults/test_matrix_on_nats.py",
    # Hostile files, texts and servers.
    "hostile/",
    "e2e/test_hostile_traces.py",
    "integration/test_hostile_documents.py",
    "integration/test_misbehaving_servers.py",
    "unit/house/test_audit.py",
    # Kills, full disks, damaged files, and signals in the middle of work.
    "e2e/test_ending_tools.py",
    "e2e/test_full_disk.py",
    "e2e/test_going_away.py",
    "e2e/test_interruption.py",
    "e2e/test_load.py",
    "e2e/test_loading_behind.py",
    "e2e/test_lost_keys.py",
    "e2e/test_model_key.py",
    "e2e/test_readiness.py",
    "faults/test_kills.py",
    "faults/test_resumed.py",
    "integration/test_acknowledged.py",
    "integration/test_backup.py",
    "integration/test_knowledge_kill.py",
    "integration/test_trace_store_adversity.py",
    "unit/api/test_api_draft_html.py::test_the_work_grows_with_the_text",
    "unit/bus/test_leaks.py",
    # Planted bugs, random runs, and the shrinking of fault plans.
    "e2e/test_fault_proxy.py",
    "faults/test_money.py",
    "faults/test_mutants.py",
    "faults/test_random.py",
    "faults/test_own_tools.py",
    "unit/house/test_adding_an_event.py",
    # Whole sets of questions, recordings and forks; measurements.
    "e2e/test_evaluation.py",
    "integration/test_cost_ratios.py",
    "integration/test_engine_reads_recordings.py::test_every_recorded_exchange_ends_in_the_right_event[messages_open.jsonl-one",
    "integration/test_nothing_is_searched_worse.py",
    "integration/test_suspects.py",
    "traces/test_recorded_forks.py",
    "unit/benchmarks/",
    # Tests that index courses themselves.
    "e2e/test_conversing.py",
    "e2e/test_double.py",
    "e2e/test_what_is_indexed.py",
    "integration/test_documents_of_callers.py",
    "integration/test_documents_to_citations.py",
    "integration/test_knowledge_chroma_server.py",
    "integration/test_knowledge_embedders.py",
    "integration/test_knowledge_indexing.py",
    "integration/test_languages_of_courses.py",
    "integration/test_layouts_of_courses.py",
    "integration/test_tenant_documents.py",
    "integration/test_without_extras.py",
)
"""Folders, files and single tests, by the beginnings of their names."""

SMOKE = (
    "browser/test_ask.py::test_an_answer_comes_with_marks",
    "browser/test_ask.py::test_the_rounds_show_as_they_happen",
)
"""The exceptions among these, which `make test` runs too."""
