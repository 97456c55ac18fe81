import { GatewayError } from '#core/errors.ts';
import type { JsonObject } from '#core/json.ts';
import { mergeTraits, type TraitSettings } from '#core/traits.ts';
import type { ReplyContext, Target } from '../../../../plugins/format/canonical/codec.ts';
import type { ClientTool, Conversation, Item, Part } from '../../../../plugins/format/canonical/conversation.ts';
import { GrammarGuard } from '../../../../plugins/format/canonical/guard.ts';
import { Notes } from '../../../../plugins/format/canonical/notes.ts';
import type { CompleteReply, Fragment, ReplyEvent } from '../../../../plugins/format/canonical/reply.ts';
import { plainNames, ToolNames } from '../../../../plugins/format/canonical/tool-names.ts';
import { messagesCodec } from '../../../../plugins/format/messages/codec.ts';

export const hello: JsonObject = { role: 'user', content: 'Hi' };

/** @param more members of the body, `messages` among them where they matter */
export function decode(more: JsonObject): { conversation: Conversation; notes: readonly string[] } {
  const notes = new Notes();
  const body = { model: 'm', max_tokens: 100, messages: [hello], ...more };
  return { conversation: messagesCodec.decodeRequest(body, notes), notes: notes.entries };
}

export function refusal(more: JsonObject): GatewayError {
  try {
    decode(more);
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
/** Sealed by the upstream that the request goes to, unless it says otherwise. */
export const thinks = (value: string, data: string, origin = 'own'): Item => ({
  type: 'reasoning',
  text: value,
  state: { kind: 'signature', origin, data },
});

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

export function encode(
  wanted: Partial<Conversation>,
  traits: TraitSettings = {},
  target: Partial<Target> = {},
): { body: JsonObject; notes: readonly string[] } {
  const conversation = { ...nothing, ...wanted };
  const notes = new Notes();
  const body = messagesCodec.encodeRequest(conversation, {
    model: 'claude-there',
    traits: mergeTraits(traits),
    isStream: true,
    names: new ToolNames(conversation, { ...plainNames, maxLength: 128 }),
    notes,
    open: (state) => (state?.origin === 'own' ? state.data : undefined),
    ...target,
  });
  // As it travels: without members that are undefined.
  return { body: JSON.parse(JSON.stringify(body)) as JsonObject, notes: notes.entries };
}

export const context: ReplyContext = { id: 'req1', model: 'asked-for', created: 1_700_000_000, request: {} };

export function guarded(fragments: readonly Fragment[]): { guard: GrammarGuard; events: ReplyEvent[] } {
  const guard = new GrammarGuard({
    names: new ToolNames({ tools: [], items: [] }, plainNames),
    seal: (kind, data) => `dps1:${kind}:${data}`,
    id: 'x',
    requestBytes: 100,
  });
  return { guard, events: [...guard.push(fragments), ...guard.close()] };
}

export function repliedTo(fragments: readonly Fragment[]): { events: ReplyEvent[]; reply: CompleteReply } {
  const { guard, events } = guarded(fragments);
  if (guard.reply === undefined) throw new Error('the reply is not complete');
  return { events, reply: guard.reply };
}
