/**
 * The benchmark's upstream, in a separate process and as cheap as possible. Small calls and large prompts get the same short answer;
 * streams get events of typical size, one every few milliseconds.
 */
import { createServer, type ServerResponse } from 'node:http';

const answer = JSON.stringify({
  id: 'chatcmpl-bench',
  object: 'chat.completion',
  created: 1,
  model: 'bench',
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: 'x'.repeat(180), refusal: null },
      finish_reason: 'stop',
      logprobs: null,
    },
  ],
  usage: { prompt_tokens: 10, completion_tokens: 40, total_tokens: 50 },
});

const events = 200;
const interval = 5; // ms
const slowIntervalMs = 1_000; // for the user `slow`, whose streams must stay open at the same time

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const body = Buffer.concat(chunks).toString('latin1');
    const texts = chooseEventTexts(request.url ?? '');
    if (body.includes('Answer briefly.')) answerBriefly(response, texts);
    else if (body.includes('"stream":true'))
      streamWords(response, texts, body.includes('"user":"slow"') ? slowIntervalMs : interval);
    else
      response
        .writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(answer) })
        .end(answer);
  });
});

interface EventTexts {
  readonly begin: string;
  word(text: string, index: number): string;
  end(text: string, words: number): string;
}

const chatEvents: EventTexts = {
  begin: '',
  word: (content) => formatChatChunk({ delta: { content }, finish_reason: null }),
  end: () => `${formatChatChunk({ delta: {}, finish_reason: 'stop' })}data: [DONE]\n\n`,
};

const messagesEvents: EventTexts = {
  begin:
    formatEvent({
      type: 'message_start',
      message: { id: 'm', role: 'assistant', content: [], usage: { input_tokens: 10 } },
    }) + formatEvent({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
  word: (text) => formatEvent({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }),
  end: () =>
    formatEvent({ type: 'content_block_stop', index: 0 }) +
    formatEvent({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 200 } }) +
    formatEvent({ type: 'message_stop' }),
};

const message = { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed' };
/**
 * Has every property that OpenAI's object has, just as the events below are exactly those that OpenAI sends, so that nothing needs repair.
 */
const responseObject = {
  id: 'resp_1',
  object: 'response',
  access_programs: null,
  created_at: 1,
  completed_at: null as number | null,
  status: 'in_progress',
  background: false,
  error: null,
  frequency_penalty: 0,
  incomplete_details: null,
  instructions: null,
  max_output_tokens: null,
  max_tool_calls: null,
  metadata: {},
  model: 'elsewhere',
  output: [],
  parallel_tool_calls: true,
  presence_penalty: 0,
  previous_response_id: null,
  prompt_cache_key: null,
  reasoning: { effort: null, summary: null },
  safety_identifier: null,
  service_tier: 'default',
  store: false,
  temperature: 1,
  text: { format: { type: 'text' } },
  tool_choice: 'auto',
  tools: [],
  top_logprobs: 0,
  top_p: 1,
  truncation: 'disabled',
  usage: null,
  user: null,
};
const content = (text: string) => ({ type: 'output_text', text, annotations: [], logprobs: [] });
const usage = {
  input_tokens: 10,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 200,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 210,
};
const place = { item_id: 'msg_1', output_index: 0, content_index: 0 };

const responsesEvents: EventTexts = {
  begin:
    formatEvent({ type: 'response.created', sequence_number: 0, response: responseObject }) +
    formatEvent({ type: 'response.in_progress', sequence_number: 1, response: responseObject }) +
    formatEvent({
      type: 'response.output_item.added',
      sequence_number: 2,
      output_index: 0,
      item: { ...message, status: 'in_progress', content: [] },
    }) +
    formatEvent({ type: 'response.content_part.added', sequence_number: 3, ...place, part: content('') }),
  word: (delta, index) =>
    formatEvent({
      type: 'response.output_text.delta',
      sequence_number: 4 + index,
      ...place,
      delta,
      logprobs: [],
      obfuscation: 'x',
    }),
  end: (text, words) => {
    const item = { ...message, content: [content(text)] };
    const next = 4 + words;
    const response = { ...responseObject, completed_at: 2, status: 'completed', output: [item], usage };
    return (
      formatEvent({ type: 'response.output_text.done', sequence_number: next, ...place, text, logprobs: [] }) +
      formatEvent({ type: 'response.content_part.done', sequence_number: next + 1, ...place, part: content(text) }) +
      formatEvent({ type: 'response.output_item.done', sequence_number: next + 2, output_index: 0, item }) +
      formatEvent({ type: 'response.completed', sequence_number: next + 3, response })
    );
  },
};

function chooseEventTexts(url: string): EventTexts {
  if (url.endsWith('/responses')) return responsesEvents;
  return url.endsWith('/messages') ? messagesEvents : chatEvents;
}

/** A few events at once, for loads in which the request should cost the most. */
function answerBriefly(response: ServerResponse, texts: EventTexts): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const words = Array.from({ length: 10 }, (_, index) => ` word${index}`);
  response.end(
    texts.begin + words.map((word, index) => texts.word(word, index)).join('') + texts.end(words.join(''), 10),
  );
}

function streamWords(response: ServerResponse, texts: EventTexts, every: number): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  if (texts.begin !== '') response.write(texts.begin);
  let sent = 0;
  let text = '';
  const timer = setInterval(() => {
    const word = ` word${sent + 1}`;
    text += word;
    response.write(texts.word(word, sent++));
    if (sent < events) return;
    clearInterval(timer);
    response.end(texts.end(text, events));
  }, every);
  response.on('close', () => clearInterval(timer));
}

function formatEvent(data: { readonly type: string; readonly [name: string]: unknown }): string {
  return `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
}

function formatChatChunk(choice: object): string {
  const chunk = {
    id: 'chatcmpl-bench',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'bench',
    choices: [{ index: 0, ...choice }],
  };
  return `data: ${JSON.stringify(chunk)}\n\n`;
}

server.keepAliveTimeout = 60_000;
// A fixed port, because a gateway that is already running must know it.
server.listen(Number(process.argv[2] ?? 0), '127.0.0.1', () => {
  const address = server.address();
  process.send?.({ port: typeof address === 'object' ? address?.port : 0 });
});
