import type { Profile } from '#core/catalog/profile.ts';
import type { OpaqueState } from '../canonical/conversation.ts';
import { readTaggedState, tagState } from '../canonical/opaque-state.ts';

/**
 * Thought signatures are bytes, written in base64, and clients that have types refuse anything else: so our tag goes
 * into the base64 as well.
 */
export function encodeSignature(tagged: string): string {
  return Buffer.from(tagged).toString('base64');
}

/** Undefined for what carries no tag of ours. Takes base64url, too: clients write bytes as they like. */
export function decodeSignature(signature: string): OpaqueState | undefined {
  if (!signature.startsWith(encodedPrefix)) return undefined;
  return readTaggedState(Buffer.from(signature, 'base64').toString());
}

/** `dps1` in base64, as far as what follows leaves it alone. */
const encodedPrefix = 'ZHBzM';

/** Marks a call without a signature, so that a route to Google puts a placeholder in its place. */
export const noSignature = encodeSignature(tagState({ kind: 'none', origin: '00000000', data: '' }));

/** Tags the signatures in the text of a reply and leaves every other byte alone. */
export function tagSignatures(text: string, origin: string): string {
  if (!text.includes('"thoughtSignature"')) return text;
  // Inside of strings quotes are escaped, and so not met.
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
 * What a call carries whose thoughts are not there: another vendor's, or lost by the client.
 * Source: Gemini docs, "Thought signatures".
 */
export const skipValidation = 'skip_thought_signature_validator';

/** Models that think by levels refuse a first call without a signature; those that think by budgets know none to skip. */
export function demandsSignatures({ quirks: { reasoning } }: Profile): boolean {
  return reasoning !== 'budget' && reasoning !== 'none';
}
