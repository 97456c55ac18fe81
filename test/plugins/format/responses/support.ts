import { GatewayError } from '#core/errors.ts';
import type { JsonObject } from '#core/json.ts';
import { mergeTraits, type TraitSettings } from '#core/traits.ts';
import type { Target } from '../../../../plugins/format/canonical/codec.ts';
import type { ClientTool, Conversation } from '../../../../plugins/format/canonical/conversation.ts';
import { Notes } from '../../../../plugins/format/canonical/notes.ts';
import { plainNames, ToolNames } from '../../../../plugins/format/canonical/tool-names.ts';
import { responsesCodec } from '../../../../plugins/format/responses/codec.ts';

export function decode(body: JsonObject): { conversation: Conversation; notes: readonly string[] } {
  const notes = new Notes();
  return { conversation: responsesCodec.decodeRequest(body, notes), notes: notes.entries };
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

export function encode(
  wanted: Partial<Conversation>,
  traits: TraitSettings = {},
  target: Partial<Target> = {},
): { body: JsonObject; notes: readonly string[] } {
  const conversation = { ...nothing, ...wanted };
  const notes = new Notes();
  const body = responsesCodec.encodeRequest(conversation, {
    model: 'gpt-there',
    traits: mergeTraits(traits),
    isStream: true,
    names: new ToolNames(conversation, plainNames),
    notes,
    open: (state) => state?.data,
    ...target,
  });
  // As it travels: without members that are undefined.
  return { body: JSON.parse(JSON.stringify(body)) as JsonObject, notes: notes.entries };
}
