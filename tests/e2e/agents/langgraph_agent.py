"""An agent as its users write it, without a thought of failures: the usual agent of LangGraph."""

# mypy: ignore-errors
# ruff: noqa: T201 - its answer is what it prints
from langchain.agents import create_agent
from langchain_anthropic import ChatAnthropic


def get_weather(city: str) -> str:
    """The weather of a city."""
    return f"{city}: 30 degrees"


agent = create_agent(
    ChatAnthropic(model="claude-sonnet-5-5", max_tokens=500), tools=[get_weather]
)
done = agent.invoke({"messages": [("user", "How warm is it in Oslo?")]})
print(done["messages"][-1].text)
