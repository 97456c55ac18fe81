import type { JsonObject } from '#core/json.ts';
import type { EncodeTarget } from './codec.ts';
import type { ClientTool, Conversation } from './conversation.ts';
import { invalid, readText } from './read.ts';

/** The name of a tool or of a call. @throws GatewayError `invalid_request` when there is none */
export function readName(value: JsonObject, path: string): string {
  const name = readText(value['name'], `${path}.name`);
  if (name === '') throw invalid(`${path}.name`, 'a name');
  return name;
}

/** The description of a freeform tool that is said as a function; the grammar becomes a part of it. */
export function describeFreeform({ description, grammar }: ClientTool): string | undefined {
  if (grammar === undefined) return description;
  const rule = `The input has to follow this ${grammar.syntax} grammar:\n${grammar.definition}`;
  return description === undefined ? rule : `${description}\n\n${rule}`;
}

/** The JSON Schema of a freeform tool that is said as a function: its input is the member `input`. */
export function freeformSchema(): JsonObject {
  return {
    type: 'object',
    properties: { input: { type: 'string', description: 'The whole input, as it is.' } },
    required: ['input'],
    additionalProperties: false,
  };
}

/** The value of `parallel_tool_calls` in OpenAI's formats; undefined where it was not asked for or cannot be said. */
export function parallelSwitch(
  { parallelToolCalls }: Conversation,
  { profile, notes }: EncodeTarget,
): boolean | undefined {
  if (parallelToolCalls === undefined) return undefined;
  if (profile.quirks.parallel_switch) return parallelToolCalls && profile.capabilities.parallel_tools;
  if (!parallelToolCalls) notes.drop('parallel_tool_calls');
  return undefined;
}
