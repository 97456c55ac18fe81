#!/bin/sh
# pipecat-ai 1.14.0 (Python, anthropic 1.17.0): AnthropicLLMService always streams, and remembers one tool_use block. Of an answer with
# several calls, which is what Claude gives by default, only the last one is run and put into the conversation. The others vanish without
# an error or a log line: the model asked for the weather in two towns, and is told of one. OpenAILLMService runs both of the same answer.
#
# Seen: "Anthropic runs: look {"place": "Oslo"}; 1 result sent back", "OpenAI runs: look {"place": "Bern"}, look {"place": "Oslo"}; 2 results
# sent back". Exits with 1 when that changes.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip -q --disable-pip-version-check install 'pipecat-ai[anthropic,openai]==1.14.0' anthropic==1.17.0 openai==3.57.0
cat > run.py <<'PY'
import asyncio, json, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from anthropic import AsyncAnthropic
from loguru import logger
from pipecat.adapters.llm.schemas.function_schema import FunctionSchema
from pipecat.adapters.llm.schemas.tools_schema import ToolsSchema
from pipecat.frames.frames import EndFrame, LLMMessagesAppendFrame
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.runner import PipelineRunner
from pipecat.pipeline.task import PipelineTask
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import LLMContextAggregatorPair
from pipecat.services.anthropic.llm import AnthropicLLMService
from pipecat.services.openai.llm import OpenAILLMService

logger.remove()
CALLS = [('toolu_1', 'Bern'), ('toolu_2', 'Oslo')]
results = {}  # sent back, by path


def messages(calls):
    usage = {'input_tokens': 9, 'output_tokens': 1}
    yield {'type': 'message_start', 'message': {'id': 'msg_1', 'type': 'message', 'role': 'assistant', 'model': 'm', 'content': [],
                                                'stop_reason': None, 'stop_sequence': None, 'usage': usage}}
    for index, (name, place) in enumerate(calls):
        block = {'type': 'tool_use', 'id': name, 'name': 'look', 'input': {}}
        yield {'type': 'content_block_start', 'index': index, 'content_block': block}
        delta = {'type': 'input_json_delta', 'partial_json': json.dumps({'place': place})}
        yield {'type': 'content_block_delta', 'index': index, 'delta': delta}
        yield {'type': 'content_block_stop', 'index': index}
    if not calls:
        yield {'type': 'content_block_start', 'index': 0, 'content_block': {'type': 'text', 'text': ''}}
        yield {'type': 'content_block_delta', 'index': 0, 'delta': {'type': 'text_delta', 'text': 'Sunny.'}}
        yield {'type': 'content_block_stop', 'index': 0}
    reason = 'tool_use' if calls else 'end_turn'
    yield {'type': 'message_delta', 'delta': {'stop_reason': reason, 'stop_sequence': None}, 'usage': {'output_tokens': 12}}
    yield {'type': 'message_stop'}


def chat(calls):
    head = {'id': 'chatcmpl-1', 'object': 'chat.completion.chunk', 'created': 1, 'model': 'm'}

    def chunk(delta, reason=None):
        return {**head, 'choices': [{'index': 0, 'delta': delta, 'logprobs': None, 'finish_reason': reason}]}

    yield chunk({'role': 'assistant', 'content': None if calls else 'Sunny.'})
    for index, (name, place) in enumerate(calls):
        yield chunk({'tool_calls': [{'index': index, 'id': name, 'type': 'function', 'function': {'name': 'look', 'arguments': ''}}]})
        yield chunk({'tool_calls': [{'index': index, 'function': {'arguments': json.dumps({'place': place})}}]})
    yield chunk({}, 'tool_calls' if calls else 'stop')
    yield {**head, 'choices': [], 'usage': {'prompt_tokens': 9, 'completion_tokens': 12, 'total_tokens': 21}}


class Model(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers['content-length'])))
        parts = [part for message in body['messages'] if isinstance(message.get('content'), list) for part in message['content']]
        sent = [part for part in parts if part.get('type') == 'tool_result'] + [m for m in body['messages'] if m['role'] == 'tool']
        results[self.path.split('?')[0]] = len(sent)
        isChat = self.path.endswith('completions')
        self.send_response(200)
        self.send_header('content-type', 'text/event-stream')
        self.end_headers()
        for event in (chat if isChat else messages)([] if sent else CALLS):
            name = '' if isChat else f"event: {event['type']}\n"
            self.wfile.write(f'{name}data: {json.dumps(event)}\n\n'.encode())
        if isChat:
            self.wfile.write(b'data: [DONE]\n\n')

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(('127.0.0.1', 0), Model)
threading.Thread(target=server.serve_forever, daemon=True).start()
base = f'http://127.0.0.1:{server.server_port}'


async def run(service, path):
    ran = []

    async def look(params):
        ran.append(f'look {json.dumps(params.arguments)}')
        await params.result_callback({'weather': 'sunny'})

    service.register_function('look', look)
    schema = FunctionSchema(name='look', description='Weather', properties={'place': {'type': 'string'}}, required=['place'])
    context = LLMContext(messages=[], tools=ToolsSchema(standard_tools=[schema]))
    pair = LLMContextAggregatorPair(context)
    task = PipelineTask(Pipeline([pair.user(), service, pair.assistant()]))
    running = asyncio.create_task(PipelineRunner(handle_sigint=False).run(task))
    await task.queue_frame(LLMMessagesAppendFrame(messages=[{'role': 'user', 'content': 'Weather in Bern and Oslo?'}], run_llm=True))
    for _ in range(600):
        if results.get(path):
            break
        await asyncio.sleep(0.05)
    await asyncio.sleep(1)
    await task.queue_frame(EndFrame())
    await asyncio.wait_for(running, 20)
    count = results.get(path, 0)
    return f"{', '.join(sorted(ran))}; {count} result{'' if count == 1 else 's'} sent back"


async def main():
    anthropic = AnthropicLLMService(api_key='k', client=AsyncAnthropic(api_key='k', base_url=base),
                                    settings=AnthropicLLMService.Settings(model='m'))
    openai = OpenAILLMService(api_key='k', base_url=f'{base}/v1', settings=OpenAILLMService.Settings(model='m'))
    seen = [f"Anthropic runs: {await run(anthropic, '/v1/messages')}", f"OpenAI runs: {await run(openai, '/v1/chat/completions')}"]
    print(*seen, sep='\n')
    return seen == [
        'Anthropic runs: look {"place": "Oslo"}; 1 result sent back',
        'OpenAI runs: look {"place": "Bern"}, look {"place": "Oslo"}; 2 results sent back',
    ]


raise SystemExit(0 if asyncio.run(main()) else 1)
PY
timeout 300 venv/bin/python -W ignore run.py
