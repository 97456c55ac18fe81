"""The beta tool runner of anthropic, which begins message threads."""

import base64

import anthropic


def run(loop, look, system: str) -> str:
    client = anthropic.Anthropic(base_url=loop.url, api_key=loop.key, max_retries=0)
    runner = client.beta.messages.tool_runner(
        model=loop.model,
        max_tokens=100,
        system=system,
        messages=[{"role": "user", "content": blocks(loop)}],
        tools=[anthropic.beta_tool(look)],
        stream=loop.stream,
    )
    return "".join(block.text for block in runner.until_done().content if block.type == "text")


def blocks(loop) -> list:
    files = [("image", "image/png", loop.image), ("document", "application/pdf", loop.pdf)]
    sent = [
        {"type": kind, "source": {"type": "base64", "media_type": media_type, "data": base64.b64encode(data).decode()}}
        for kind, media_type, data in files
        if data is not None
    ]
    return [*sent, {"type": "text", "text": loop.question}]
