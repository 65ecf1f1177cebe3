"""The service as OpenAI's API: `/v1/models`, `/v1/chat/completions` and `/v1/responses` (docs/openai.md)."""
