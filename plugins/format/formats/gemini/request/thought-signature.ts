import type { Profile } from '#core/config/catalog/profile.ts';
import type { OpaqueState } from '../../../canonical/conversation.ts';
import { readTaggedState, tagState } from '../../../canonical/opaque-state.ts';

/** A thought signature in base64, tag included: typed clients refuse anything that is not base64. */
export function encodeSignature(tagged: string): string {
  return Buffer.from(tagged).toString('base64');
}

/** Undefined without a tag of ours. Accepts base64url too, which some clients write. */
export function decodeSignature(signature: string): OpaqueState | undefined {
  if (!signature.startsWith(encodedPrefix)) return undefined;
  return readTaggedState(Buffer.from(signature, 'base64').toString());
}

/** `dps1` in base64, without the last bits, which depend on the next character. */
const encodedPrefix = 'ZHBzM';

/** Marks a call without a signature, so that a route to Google puts a placeholder in its place. */
export const noSignature = encodeSignature(tagState({ kind: 'none', origin: '00000000', data: '' }));

/** Tags the signatures in the text of a reply and leaves every other byte alone. */
export function tagSignatures(text: string, origin: string): string {
  if (!text.includes('"thoughtSignature"')) return text;
  // Quotes inside strings are escaped and do not match.
  return text.replace(
    /("thoughtSignature"\s*:\s*)"(?=[^"])([^"\\]*(?:\\.[^"\\]*)*)"/g,
    (whole, name: string, value: string) => {
      const data = unescape(value);
      return data === undefined ? whole : `${name}"${encodeSignature(tagState({ kind: 'thought', origin, data }))}"`;
    },
  );
}

/** Google escapes `=` in JSON. */
function unescape(value: string): string | undefined {
  try {
    return JSON.parse(`"${value}"`) as string;
  } catch {
    return undefined;
  }
}

/**
 * Takes the place of a signature that is another vendor's, or lost by the client. Source: Gemini docs, "Thought
 * signatures".
 */
export const skipValidation = 'skip_thought_signature_validator';

/**
 * Models with thinking levels refuse a first call without a signature; models with budgets do not know the placeholder.
 */
export function requiresSignatures({ quirks: { reasoning } }: Profile): boolean {
  return reasoning !== 'budget' && reasoning !== 'none';
}
