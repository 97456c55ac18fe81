"""openai-agents over one WebSocket, first as a chain of `previous_response_id`, then with the whole history in each request."""

import asyncio

import agents
import openai_socket

agents.set_tracing_disabled(True)


def run(loop, look, system: str) -> str:
    return asyncio.run(converse(loop, look, system))


async def converse(loop, look, system: str) -> str:
    async with agents.responses_websocket_session(
        api_key=loop.key, base_url=f"{loop.url}/v1", unknown_prefix_mode="model_id"
    ) as session:
        model = session.provider.get_model(loop.model)
        openai_socket.expect("the transport", type(model).__name__, "OpenAIResponsesWSModel")
        asked = [{"role": "user", "content": openai_socket.parts(loop)}]
        await check_refusals(session, asked)
        agent = agents.Agent("Scout", instructions=system, model=loop.model, tools=[agents.function_tool(look)])
        chained = await ask(session, loop, agent, asked, auto_previous_response_id=True)
        whole = await ask(session, loop, agent, asked)
        openai_socket.expect("the chain", chained.final_output, whole.final_output)
        return whole.final_output


async def ask(session, loop, agent, asked, **options):
    if not loop.stream:
        return await session.run(agent, asked, **options)
    result = session.run_streamed(agent, asked, **options)
    async for _ in result.stream_events():
        pass
    return result


async def check_refusals(session, asked) -> None:
    """The connection that an error ended is opened anew."""
    try:
        await session.run(agents.Agent("Lost", model="nowhere"), asked)
    except Exception as error:
        openai_socket.expect("the error", "model_not_found" in str(error), True)
        return
    raise AssertionError("an unknown model is answered")
