#!/bin/sh
# livekit-plugins-openai 1.8.9 (Python), responses.LLM: by POST a 429 or a 503 is repeated, with the status in the exception. Over a WebSocket,
# its default, the same error, in the `error` event that OpenAI documents (`status` 429, code `rate_limit_exceeded`), is final: the status
# becomes -1, because it is looked for in the code, and `retryable` is False, whatever `max_retry` says. A busy moment ends the turn of a
# voice agent that would have gone on by POST. An answer at its limit of output tokens raises as well, both ways, after all of its text.
#
# Seen: "429 by POST: 2 requests, Hello.", "429 by WebSocket: 1 request, APIStatusError -1, retryable False", the same two for 503, and
# "limit by POST: 1 request, Hel then APIStatusError -1, retryable False", also by WebSocket. Exits with 1 when that changes.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip -q --disable-pip-version-check install livekit-agents==1.8.9 livekit-plugins-openai==1.8.9 openai==3.57.0 aiohttp
cat > run.py <<'PY'
import asyncio, json, logging
from aiohttp import web
from livekit.agents import APIConnectOptions
from livekit.agents.llm import ChatContext
from livekit.agents.utils import http_context
from livekit.plugins import openai

logging.disable(logging.CRITICAL)
ERRORS = {'429': ('rate_limit_error', 'rate_limit_exceeded'), '503': ('server_error', 'server_is_overloaded')}
USAGE = {'input_tokens': 7, 'input_tokens_details': {'cached_tokens': 0, 'cache_write_tokens': 0}, 'output_tokens': 3,
         'output_tokens_details': {'reasoning_tokens': 0}, 'total_tokens': 10}
place = {'item_id': 'msg_1', 'output_index': 0, 'content_index': 0}
requests = {}


def response(model, **members):
    return {'id': 'resp_1', 'object': 'response', 'created_at': 1, 'status': 'in_progress', 'model': model, 'output': [], 'usage': None,
            'parallel_tool_calls': True, 'tool_choice': 'auto', 'tools': [], 'error': None, 'incomplete_details': None,
            'instructions': None, 'metadata': {}, 'temperature': 1, 'top_p': 1, **members}


def events(model):
    isCut = model.startswith('limit')
    text, status = ('Hel', 'incomplete') if isCut else ('Hello.', 'completed')
    part = {'type': 'output_text', 'text': text, 'annotations': [], 'logprobs': []}
    item = {'id': 'msg_1', 'type': 'message', 'role': 'assistant', 'status': status, 'content': [part]}
    details = {'reason': 'max_output_tokens'} if isCut else None
    yield {'type': 'response.created', 'response': response(model)}
    yield {'type': 'response.output_item.added', 'output_index': 0, 'item': {**item, 'status': 'in_progress', 'content': []}}
    yield {'type': 'response.output_text.delta', **place, 'delta': text, 'logprobs': []}
    yield {'type': 'response.output_item.done', 'output_index': 0, 'item': item}
    ended = response(model, status=status, output=[item], usage=USAGE, incomplete_details=details)
    yield {'type': f'response.{status}', 'response': ended}


def failure(model):
    """The first request of a model that is named like a status gets it."""
    requests[model] = requests.get(model, 0) + 1
    status = model.split('-')[0]
    if status not in ERRORS or requests[model] > 1:
        return None
    kind, code = ERRORS[status]
    return int(status), {'type': kind, 'code': code, 'message': 'Try again.', 'param': None}


async def post(request):
    model = (await request.json())['model']
    failed = failure(model)
    if failed:
        return web.json_response({'error': failed[1]}, status=failed[0], headers={'retry-after': '1'})
    lines = [f"event: {event['type']}\ndata: {json.dumps({**event, 'sequence_number': n})}\n\n" for n, event in enumerate(events(model))]
    return web.Response(text=''.join(lines), content_type='text/event-stream')


async def connect(request):
    socket = web.WebSocketResponse()
    await socket.prepare(request)
    async for message in socket:
        model = json.loads(message.data)['model']
        failed = failure(model)
        if failed:
            headers = {'retry-after': '1'}
            await socket.send_json({'type': 'error', 'status': failed[0], 'error': failed[1], 'headers': headers})
            continue
        for number, event in enumerate(events(model)):
            await socket.send_json({**event, 'sequence_number': number})
    return socket


async def ask(base, name, isSocket):
    model = f'{name}-{isSocket}'
    url = f'{base}/responses' if isSocket else base
    llm = openai.responses.LLM(model=model, api_key='k', base_url=url, use_websocket=isSocket)
    context, text = ChatContext.empty(), ''
    context.add_message(role='user', content='Hello')
    try:
        async with llm.chat(chat_ctx=context, conn_options=APIConnectOptions(max_retry=3, retry_interval=0.2, timeout=20)) as stream:
            async for chunk in stream:
                text += (chunk.delta and chunk.delta.content) or ''
    except Exception as error:
        status = getattr(error, 'status_code', None)
        text = f"{text} then " if text else ''
        text += f'{type(error).__name__} {status}, retryable {error.retryable}'
    finally:
        await llm.aclose()
    count = requests[model]
    return f"{name} by {'WebSocket' if isSocket else 'POST'}: {count} request{'' if count == 1 else 's'}, {text}"


async def main():
    app = web.Application()
    app.add_routes([web.post('/v1/responses', post), web.get('/v1/responses', connect)])
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, '127.0.0.1', 0)
    await site.start()
    base = f'http://127.0.0.1:{site._server.sockets[0].getsockname()[1]}/v1'
    http_context._new_session_ctx()
    seen = [await ask(base, name, isSocket) for name in ('429', '503', 'limit') for isSocket in (False, True)]
    print(*seen, sep='\n')
    await http_context._close_http_ctx()
    await runner.cleanup()
    ended = 'APIStatusError -1, retryable False'
    return seen == [
        '429 by POST: 2 requests, Hello.',
        f'429 by WebSocket: 1 request, {ended}',
        '503 by POST: 2 requests, Hello.',
        f'503 by WebSocket: 1 request, {ended}',
        f'limit by POST: 1 request, Hel then {ended}',
        f'limit by WebSocket: 1 request, Hel then {ended}',
    ]


raise SystemExit(0 if asyncio.run(main()) else 1)
PY
timeout 300 venv/bin/python -W ignore run.py
