import type { JsonObject } from '#core/platform/json.ts';
import type { EncodeTarget } from './codec.ts';
import type { Conversation, OutputFormat } from './conversation.ts';
import { joinTexts } from './dialogue.ts';
import { enforceSchema } from './enforce-schema.ts';
import { selectSubset } from './schema-subsets.ts';

/** Request for an output format: a parameter, an instruction, or both. */
export interface WrittenFormat {
  readonly format: JsonObject | undefined;
  /** Text that precedes the dialogue. */
  readonly instruction: string | undefined;
}

/**
 * Requests JSON output in the strictest way that the model supports.
 *
 * @param supported output formats that a parameter can request
 * @param vendor the vendor whose schema rules apply unless the profile names another
 */
export function writeFormat(
  conversation: Conversation,
  { profile, notes }: EncodeTarget,
  supported = profile.capabilities.structured_output,
  vendor?: Parameters<typeof selectSubset>[1],
): WrittenFormat {
  const { output } = conversation;
  if (output === undefined) return { format: undefined, instruction: undefined };
  if (output.type === 'json_schema' && supported === 'schema') {
    return writeSchema(output, selectSubset(profile, vendor), notes);
  }
  if (output.type === 'json_schema') notes.approximate('json_schema as instruction');
  else if (supported === 'none') notes.approximate('json_object as instruction');
  const format = supported === 'none' ? undefined : { type: 'json_object' };
  // Vendors refuse `json_object` unless the word JSON appears in the input; the instructions do not count.
  const needsNoInstruction = output.type === 'json_object' && format !== undefined && mentionsJson(conversation);
  return { format, instruction: needsNoInstruction ? undefined : writeInstruction(output) };
}

function writeSchema(
  output: Extract<OutputFormat, { type: 'json_schema' }>,
  subset: ReturnType<typeof selectSubset>,
  notes: EncodeTarget['notes'],
): WrittenFormat {
  const enforced = enforceSchema(output.schema, output.strict, subset, notes);
  if (enforced === undefined) {
    notes.approximate('json_schema as instruction');
    return { format: undefined, instruction: writeInstruction(output) };
  }
  const format = {
    type: 'json_schema',
    name: toSchemaName(output.name),
    ...(output.description !== undefined && { description: output.description }),
    schema: enforced.schema,
    strict: enforced.isStrict,
  };
  return { format, instruction: undefined };
}

export function noteLostDescription(output: OutputFormat | undefined, notes: EncodeTarget['notes']): void {
  if (output?.type === 'json_schema' && output.description !== undefined) notes.drop('description of json_schema');
}

function toSchemaName(name: string | undefined): string {
  // The name is required.
  return (name ?? '').replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 64) || 'response';
}

export function writeInstruction(output: OutputFormat): string {
  if (output.type === 'json_object') return 'Answer with one JSON object and nothing else.';
  return `Answer with one JSON value that fits this JSON Schema, and nothing else:\n${JSON.stringify(output.schema)}`;
}

function mentionsJson({ items }: Conversation): boolean {
  return items.some((item) => 'parts' in item && /json/i.test(joinTexts(item.parts)));
}
