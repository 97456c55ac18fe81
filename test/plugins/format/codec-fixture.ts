import { mergeProfiles, type ProfileSettings } from '#core/config/catalog/profile.ts';
import type { StreamEvent } from '#core/gateway/model-call/event-framer.ts';
import { SseFramer } from '#core/gateway/model-call/sse-framer.ts';
import { GatewayError } from '#core/platform/errors/table.ts';
import type { JsonObject } from '#core/platform/json.ts';
import type { ClientCodec, EncodeTarget } from '../../../plugins/format/canonical/codec.ts';
import type { ClientTool, Conversation, Item, Part } from '../../../plugins/format/canonical/conversation.ts';
import { Notes } from '../../../plugins/format/canonical/notes.ts';
import { commonNameRules, ToolNames } from '../../../plugins/format/canonical/tool-names.ts';
import type { TextFormat } from '../../../plugins/format/formats/contract/descriptor.ts';
import { encodeForRoute } from '../../../plugins/format/routes/translation/encode-for-route.ts';

export const nothing: Conversation = {
  instructions: [],
  items: [],
  tools: [],
  toolChoice: undefined,
  parallelToolCalls: undefined,
  reasoning: undefined,
  output: undefined,
  maxOutputTokens: undefined,
  stop: [],
  verbosity: undefined,
  user: undefined,
  cacheKey: undefined,
  serviceTier: undefined,
  candidates: 1,
};

export const text = (value: string): Part => ({ type: 'text', text: value });
export const picture: Part = {
  type: 'image',
  source: { type: 'base64', mediaType: 'image/png', data: 'iVBO' },
  detail: undefined,
};
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

export interface Decoded {
  readonly conversation: Conversation;
  readonly notes: readonly string[];
}

export function decodeWith(codec: ClientCodec, body: JsonObject): Decoded {
  const notes = new Notes();
  return { conversation: codec.decodeRequest(body, notes), notes: notes.entries };
}

/** The error that this ends with. @throws Error when it does not */
export function refusalBy(work: () => unknown): GatewayError {
  try {
    work();
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
  throw new Error('the request was taken');
}

/** The body that a route gets of a request, as it travels: without members that are undefined. */
export function encodeWith(
  format: TextFormat,
  wanted: Partial<Conversation>,
  { profile = {}, ...target }: Partial<Omit<EncodeTarget, 'profile'>> & { readonly profile?: ProfileSettings },
): { body: JsonObject; notes: readonly string[] } {
  const conversation = { ...nothing, ...wanted };
  const { findAcceptedState: ownState = () => undefined, ...others } = target;
  const notes = target.notes ?? new Notes();
  const names = new ToolNames(conversation, commonNameRules);
  const opening = { ...format, text: { ...format.text, encodeRequest: encodeOpening(format, ownState) } };
  const to = { model: 'there', profile: mergeProfiles(profile), isStream: false, names, ...others, notes };
  const body = encodeForRoute(opening, conversation, to, '0a1b2c3d');
  return { body: JSON.parse(JSON.stringify(body)) as JsonObject, notes: notes.entries };
}

/** The encoder of a format, which opens reasoning state as the test says. */
function encodeOpening(
  format: TextFormat,
  ownState: EncodeTarget['findAcceptedState'],
): TextFormat['text']['encodeRequest'] {
  return (conversation, target) => format.text.encodeRequest(conversation, { ...target, findAcceptedState: ownState });
}

/** The one event in these bytes. */
export function streamEvent(bytes: string): StreamEvent {
  const [event] = new SseFramer().push(Buffer.from(bytes));
  if (event === undefined) throw new Error('not a whole event');
  return event;
}
