"""An agent of Google's ADK, which runs the tool. A client is `google-adk-API`."""

import asyncio
import os

from google.adk.agents import LlmAgent, RunConfig
from google.adk.agents.run_config import StreamingMode
from google.adk.models.anthropic_llm import AnthropicLlm
from google.adk.models.google_llm import Gemini
from google.adk.models.lite_llm import LiteLlm
from google.adk.runners import InMemoryRunner
from google.genai import types

MODELS = {
    "google-adk-openai": lambda loop: LiteLlm(f"openai/{loop.model}", api_base=f"{loop.url}/v1", api_key=loop.key),
    "google-adk-gemini": lambda loop: Gemini(model=loop.model, base_url=loop.url),
    "google-adk-anthropic": lambda loop: AnthropicLlm(model=loop.model),
}


def run(loop, look, system: str) -> str:
    # Two of the classes take the key, and the third the address, only from here.
    os.environ.update(GOOGLE_API_KEY=loop.key, ANTHROPIC_API_KEY=loop.key, ANTHROPIC_BASE_URL=loop.url)
    return asyncio.run(converse(loop, look, system))


async def converse(loop, look, system: str) -> str:
    agent = LlmAgent(name="scout", model=MODELS[loop.client](loop), instruction=system, tools=[look])
    runner = InMemoryRunner(agent=agent)
    session = await runner.session_service.create_session(app_name=runner.app_name, user_id="ada")
    mode = StreamingMode.SSE if loop.stream else StreamingMode.NONE
    answer = ""
    async for event in runner.run_async(
        user_id="ada",
        session_id=session.id,
        new_message=types.Content(role="user", parts=parts(loop)),
        run_config=RunConfig(streaming_mode=mode, max_llm_calls=4),
    ):
        if event.error_code:
            return f"{event.error_code}: {event.error_message}"
        if event.is_final_response() and event.content:
            answer = "".join(part.text for part in event.content.parts if part.text and not part.thought)
    return answer


def parts(loop) -> list:
    files = [(loop.image, "image/png"), (loop.pdf, "application/pdf")]
    sent = [types.Part.from_bytes(data=data, mime_type=type) for data, type in files if data is not None]
    return [*sent, types.Part(text=loop.question)]
