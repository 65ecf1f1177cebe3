"""An agent as its users write it, without a thought of failures: the usual one of pydantic-ai."""

# mypy: ignore-errors
# ruff: noqa: T201 - its answer is what it prints
import sys

from pydantic_ai import Agent

agent = Agent(sys.argv[1])


@agent.tool_plain
def get_weather(city: str) -> str:
    """The weather of a city."""
    return f"{city}: 30 degrees"


if "stream" in sys.argv:
    with agent.run_stream_sync("How warm is it in Oslo?") as result:
        print(result.get_output())
else:
    print(agent.run_sync("How warm is it in Oslo?").output)
