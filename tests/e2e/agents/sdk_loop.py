"""An agent as its users write it, without a thought of failures: the plain loop of an SDK's own examples."""

# mypy: ignore-errors
# ruff: noqa: T201 - its answer is what it prints
import anthropic

client = anthropic.Anthropic()
tools = [
    {
        "name": "get_weather",
        "description": "The weather of a city.",
        "input_schema": {
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
        },
    }
]
messages = [{"role": "user", "content": "How warm is it in Oslo?"}]
while True:
    reply = client.messages.create(
        model="claude-sonnet-5-5", max_tokens=500, tools=tools, messages=messages
    )
    messages.append({"role": "assistant", "content": reply.content})
    if reply.stop_reason != "tool_use":
        break
    results = []
    for block in reply.content:
        if block.type == "tool_use":
            results.append(
                {
                    "type": "tool_result",
                    "tool_use_id": block.id,
                    "content": f"{block.input['city']}: 30 degrees",
                }
            )
    messages.append({"role": "user", "content": results})
print(reply.content[0].text)
