"""An agent of Microsoft's Agent Framework, which runs the tool. A client is `agent-framework-API`."""

import asyncio

from agent_framework import Agent, Content, Message
from agent_framework.anthropic import AnthropicClient
from agent_framework.openai import OpenAIChatClient, OpenAIChatCompletionClient

CLIENTS = {
    "agent-framework-responses": lambda loop: OpenAIChatClient(**openai(loop)),
    "agent-framework-chat": lambda loop: OpenAIChatCompletionClient(**openai(loop)),
    "agent-framework-anthropic": lambda loop: AnthropicClient(
        model=loop.model, api_key=loop.key, base_url=loop.url
    ),
}


def openai(loop) -> dict:
    return {"model": loop.model, "api_key": loop.key, "base_url": f"{loop.url}/v1"}


def run(loop, look, system: str) -> str:
    return asyncio.run(converse(loop, look, system))


async def converse(loop, look, system: str) -> str:
    agent = Agent(client=CLIENTS[loop.client](loop), instructions=system, tools=[look])
    asked = Message(role="user", contents=contents(loop))
    if not loop.stream:
        return (await agent.run(asked)).messages[-1].text
    stream = agent.run(asked, stream=True)
    async for _ in stream:
        pass
    return (await stream.get_final_response()).messages[-1].text


def contents(loop) -> list:
    files = [(loop.image, "image/png"), (loop.pdf, "application/pdf")]
    sent = [Content.from_data(data=data, media_type=type) for data, type in files if data is not None]
    return [*sent, Content.from_text(loop.question)]
