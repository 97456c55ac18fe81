import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import { createUpstream, type FaultyUpstream, type RecordedRequest } from '../../support/faulty-upstream.ts';
import type { UpstreamTextFormat } from '../../support/formats.ts';
import { type Answer, type Ask, objectsOf } from '../conversation.ts';
import { upstreams } from '../upstreams/index.ts';

/** What a client asks, what its tool `look` returns, and what its conversation ends with after two calls of it. */
export const loop = { question: 'Which way?', result: 'nothing', answer: 'Left.' };

const usage = { input: 3, cached: 0, output: 2, thinking: 1 };

/**
 * Imitates a model that thinks before it calls the tool `look`, once in each of two turns, and then answers. It has no
 * memory: without the question or the tools in a request it asks what is meant. The first part of a path names the format;
 * paths that begin with `/threads/` are of a Messages vendor that holds message threads, each for the API key that began it.
 */
export function createLoopingUpstream(): Promise<FaultyUpstream> {
  const threads = new Map<string, JsonObject>();
  let answers = 0;
  return createUpstream((request, response) => {
    const key = String(request.headers['x-api-key']);
    const holdsThreads = request.path.startsWith('/threads/');
    const body = holdsThreads ? continued(threads, request.json(), key) : request.json<JsonObject>();
    if (body === undefined) return response.json(404, threadError);
    const upstream = upstreams[formatOf(request)];
    const received = readAsk(request, body);
    if (received instanceof Error) return response.json(400, { error: { message: received.message } });
    const answer = answerTo(received);
    const named = namer(answers++);
    const whole = named(upstream.whole(answer, 'there'));
    const id = holdsThreads ? `msg_${threads.size}` : String(whole['id']);
    const reply = { role: 'assistant', content: whole['content'] ?? [] };
    if (holdsThreads) threads.set(`${key} ${id}`, { ...body, messages: [...listOf(body), reply] });
    if (!isStreamed(request)) return response.json(200, { ...whole, ...(holdsThreads && { id }) });
    const written = upstream.events(answer, 'there').map(named);
    const events = holdsThreads ? written.map((event) => renamed(event, id)) : written;
    return response.send(200, { 'content-type': upstream.streamType ?? 'text/event-stream' }, upstream.frame(events));
  });
}

export function formatOf({ path }: RecordedRequest): UpstreamTextFormat {
  const [, name = ''] = path.split('/');
  return name === 'threads' ? 'messages' : (name as UpstreamTextFormat);
}

/** The signature of the reasoning that leads to the nth call, counted from 1. */
export function signatureOf(call: number): string {
  return Buffer.from(`signature of call_${call}`).toString('base64');
}

const threadError = {
  type: 'error',
  error: { type: 'not_found_error', message: 'Not found.', details: { error_code: 'thread_not_found' } },
};

function listOf({ messages }: JsonObject): JsonValue[] {
  return Array.isArray(messages) ? messages : [];
}

function continued(threads: Map<string, JsonObject>, body: JsonObject, key: string): JsonObject | undefined {
  const { thread, ...own } = body;
  const previousId = isJsonObject(thread) ? thread['previous_message_id'] : undefined;
  if (previousId === undefined) return own;
  const begun = threads.get(`${key} ${String(previousId)}`);
  return begun && { ...begun, ...own, messages: [...listOf(begun), ...listOf(own)] };
}

/** Gives a response and its items ids of their own: clients refer to them in later turns, or know messages by them. @param answer its number */
function namer(answer: number): (value: JsonObject) => JsonObject {
  const id = /"(chatcmpl-|(?:resp|rs|fc|ctc|msg)_)(there|\d+)"/g;
  return (value) => JSON.parse(JSON.stringify(value).replace(id, `"$1${answer}_$2"`)) as JsonObject;
}

function isStreamed(request: RecordedRequest): boolean {
  return request.path.includes(':stream') || request.json()['stream'] === true;
}

/** A request as a vendor understands it, or why it refuses it. */
export function readAsk(request: RecordedRequest, body: JsonObject): Ask | Error {
  const format = formatOf(request);
  try {
    return upstreams[format].read(format === 'gemini' ? merged(body) : body);
  } catch (error) {
    return error as Error;
  }
}

/** Gemini takes an answer in the pieces in which it was streamed, as its SDKs return it. */
function merged(body: JsonObject): JsonObject {
  const contents: JsonObject[] = [];
  for (const content of objectsOf(body['contents'])) {
    const last = contents.at(-1);
    const parts = [...objectsOf(last?.['parts']), ...objectsOf(content['parts'])];
    if (last?.['role'] === content['role']) contents.splice(-1, 1, { ...content, parts });
    else contents.push(content);
  }
  return { ...body, contents };
}

function answerTo({ entries, tools = [] }: Ask): Answer {
  const isAsked = entries.some((entry) => entry.type === 'text' && entry.text.includes(loop.question));
  const isWhole = isAsked && tools.some(({ name }) => name === 'look');
  const results = entries.filter((entry) => entry.type === 'result' && entry.text.includes(loop.result)).length;
  if (!isWhole) return { blocks: [{ type: 'text', text: 'What do you mean?' }], end: 'stop', usage };
  if (results >= 2) return { blocks: [{ type: 'text', text: loop.answer }], end: 'stop', usage };
  const call = results + 1;
  return {
    blocks: [
      { type: 'text', text: 'Looking.' },
      { type: 'thought', text: 'Where?', signature: signatureOf(call) },
      { type: 'call', id: `call_${call}`, name: 'look', input: {} },
    ],
    end: 'calls',
    usage,
  };
}

/** The first event of a message with another id. */
function renamed(event: JsonObject, id: string): JsonObject {
  return isJsonObject(event['message']) ? { ...event, message: { ...event['message'], id } } : event;
}
