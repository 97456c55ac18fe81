import type { TextFormat } from '#core/catalog/formats.ts';
import type { JsonObject, JsonValue } from '#core/json.ts';
import { member } from '../request/members.ts';

/** The stop sequences in a request, in each format's words; Responses has none. */
export const toldStops: Readonly<Record<TextFormat, (body: JsonObject) => readonly string[]>> = {
  chat: ({ stop }) => textsOf(stop),
  responses: () => [],
  messages: ({ stop_sequences }) => textsOf(stop_sequences),
  gemini: ({ generationConfig }) => textsOf(member(generationConfig, 'stopSequences')),
};

function textsOf(value: JsonValue | undefined): readonly string[] {
  const list = Array.isArray(value) ? value : [value];
  return list.filter((entry) => typeof entry === 'string' && entry !== '') as string[];
}
