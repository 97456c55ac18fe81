import { Ajv } from 'ajv';
import { GatewayError } from '#core/errors.ts';
import type { JsonObject } from '#core/json.ts';
import { mergeTraits, type TraitSettings } from '#core/traits.ts';
import { chatCodec } from '../../../../plugins/format/chat/codec.ts';
import type { ReplyDecoder, Target } from '../../../../plugins/format/canonical/codec.ts';
import type { ClientTool, Conversation, Item, Part } from '../../../../plugins/format/canonical/conversation.ts';
import { GrammarGuard } from '../../../../plugins/format/canonical/guard.ts';
import { Notes } from '../../../../plugins/format/canonical/notes.ts';
import { tagState } from '../../../../plugins/format/canonical/opaque-state.ts';
import type { CompleteReply, Fragment, ReplyEvent } from '../../../../plugins/format/canonical/reply.ts';
import { plainNames, ToolNames } from '../../../../plugins/format/canonical/tool-names.ts';
import { ChatDecoder } from '../../../../plugins/format/chat/decode-reply.ts';

export function decode(body: JsonObject): { conversation: Conversation; notes: readonly string[] } {
  const notes = new Notes();
  return { conversation: chatCodec.decodeRequest(body, notes), notes: notes.entries };
}

/** A request of these messages, read. */
export function read(...messages: JsonObject[]): Conversation {
  return decode({ model: 'm', messages }).conversation;
}

export function refusal(body: JsonObject): GatewayError {
  try {
    decode(body);
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
  throw new Error('the request was taken');
}

export const nothing: Conversation = {
  instructions: [],
  items: [],
  tools: [],
  toolChoice: undefined,
  parallelToolCalls: undefined,
  reasoning: undefined,
  output: undefined,
  sampling: {},
  maxOutputTokens: undefined,
  stop: [],
  verbosity: undefined,
  user: undefined,
  cacheKey: undefined,
  serviceTier: undefined,
  candidates: 1,
};

export function clientTool(tool: Partial<ClientTool> & Pick<ClientTool, 'name'>): ClientTool {
  return {
    form: 'function',
    namespace: undefined,
    description: undefined,
    schema: undefined,
    strict: undefined,
    grammar: undefined,
    ...tool,
  };
}

export const text = (value: string): Part => ({ type: 'text', text: value });
export const says = (role: 'user' | 'assistant' | 'system', value: string): Item => ({
  type: 'message',
  role,
  parts: [text(value)],
});
export const calls = (id: string, name: string, input: string, more: object = {}): Item => ({
  type: 'tool_call',
  id,
  name,
  input,
  namespace: undefined,
  form: 'function',
  ...more,
});
export const returns = (id: string, parts: Part[], isError = false): Item => ({
  type: 'tool_result',
  id,
  parts,
  isError,
});
export const thinks = (value: string): Item => ({ type: 'reasoning', text: value, state: undefined });
export const picture: Part = {
  type: 'image',
  source: { type: 'base64', mediaType: 'image/png', data: 'iVBO' },
  detail: undefined,
};

export function encode(
  wanted: Partial<Conversation>,
  traits: TraitSettings = {},
  target: Partial<Target> = {},
): { body: JsonObject; notes: readonly string[] } {
  const conversation = { ...nothing, ...wanted };
  const notes = new Notes();
  const body = chatCodec.encodeRequest(conversation, {
    model: 'there',
    traits: mergeTraits(traits),
    isStream: false,
    names: new ToolNames(conversation, plainNames),
    notes,
    open: () => undefined,
    ...target,
  });
  // As it travels: without members that are undefined.
  return { body: JSON.parse(JSON.stringify(body)) as JsonObject, notes: notes.entries };
}

export function newGuard(tools: readonly ClientTool[] = []): GrammarGuard {
  return new GrammarGuard({
    names: new ToolNames({ tools, items: [] }, plainNames),
    seal: (kind, data) => tagState({ kind, origin: '0a1b2c3d', data }),
    id: 'x1',
    requestBytes: 400,
  });
}

/** What a decoder makes of a stream: each chunk an object, or a line as it comes. */
export function fragmentsOf(
  chunks: readonly (JsonObject | string)[],
  decoder: ReplyDecoder = new ChatDecoder(),
): Fragment[] {
  return chunks.flatMap((chunk) => decoder.event(undefined, typeof chunk === 'string' ? chunk : JSON.stringify(chunk)));
}

/** The reply that comes of these fragments. */
export function settle(fragments: readonly Fragment[], tools: readonly ClientTool[] = []): CompleteReply {
  const guard = newGuard(tools);
  guard.push(fragments);
  guard.close();
  if (guard.failure !== undefined) throw guard.failure;
  if (guard.reply === undefined) throw new Error('the reply is not complete');
  return guard.reply;
}

export function delta(said: JsonObject, more: JsonObject = {}): JsonObject {
  return { id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta: said, ...more }] };
}

export const context = (request: JsonObject = {}) => ({ id: 'x1', model: 'mine', created: 1_700_000_000, request });

/** The stream and the whole reply that a client gets for these fragments. */
export function reply(
  fragments: readonly Fragment[],
  request: JsonObject = {},
  tools: readonly ClientTool[] = [],
): { chunks: JsonObject[]; lines: string[]; whole: JsonObject } {
  const guard = newGuard(tools);
  const encoder = chatCodec.createEncoder(context(request));
  const events: ReplyEvent[] = fragments.flatMap((fragment) => guard.push([fragment]));
  const lines = events
    .map((event) => encoder.event(event))
    .join('')
    .split('\n\n')
    .filter((line) => line !== '');
  const chunks = lines
    .filter((line) => line !== 'data: [DONE]')
    .map((line) => JSON.parse(line.slice('data: '.length)) as JsonObject);
  if (guard.reply === undefined) throw new Error('the reply is not complete');
  const whole = chatCodec.createEncoder(context(request)).whole(guard.reply);
  return { chunks, lines, whole: JSON.parse(JSON.stringify(whole)) as JsonObject };
}

const ajv = new Ajv({ strict: false });

/** Faults of a value by a schema; undefined when there are none. */
export function faults(schema: object, value: unknown): string | undefined {
  const validate = ajv.compile(schema);
  return validate(value) ? undefined : `${ajv.errorsText(validate.errors)} in ${JSON.stringify(value)}`;
}
