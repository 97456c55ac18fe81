import type { JsonObject } from '#core/json.ts';
import type { EncodeTarget } from '../canonical/codec.ts';
import type { Conversation } from '../canonical/conversation.ts';
import { instructionFor } from '../canonical/write-output-format.ts';
import { cleanSchema } from './clean-schema.ts';

/** How an output format is requested: in the configuration, by an instruction, or both. */
export interface GeminiOutputFormat {
  readonly config?: JsonObject;
  /** Goes after all other instructions. */
  readonly instruction?: string;
}

const json = { responseMimeType: 'application/json' };

/** Requests JSON in the strictest way that the model supports. Source: Gemini docs, "Structured output". */
export function writeFormat({ output, tools }: Conversation, { profile, notes }: EncodeTarget): GeminiOutputFormat {
  if (output === undefined) return {};
  const { quirks, capabilities } = profile;
  // Older models reject an output format together with functions.
  const isCombined = tools.length > 0 && capabilities.tools && quirks.reasoning !== 'level';
  const known = isCombined ? 'none' : capabilities.structured_output;
  if (output.type === 'json_object' && known !== 'none') return { config: json };
  if (output.type === 'json_schema' && known === 'schema') {
    const schema =
      quirks.tool_schema === 'subset'
        ? { responseSchema: cleanSchema(output.schema, notes) }
        : { responseJsonSchema: output.schema };
    return { config: { ...json, ...schema } };
  }
  notes.approximate(`${output.type} as instruction`);
  return { ...(known !== 'none' && { config: json }), instruction: instructionFor(output) };
}
