import type { Profile } from '#core/config/catalog/profile.ts';
import type { OpaqueState } from '../../../canonical/conversation.ts';
import { readTaggedState, tagState } from '../../../canonical/opaque-state.ts';

/** Encodes a thought signature and its tag in base64: typed clients reject anything else. */
export function encodeSignature(tagged: string): string {
  return Buffer.from(tagged).toString('base64');
}

/** Undefined unless the signature has the gateway's tag. Also accepts base64url, which some clients write. */
export function decodeSignature(signature: string): OpaqueState | undefined {
  if (!signature.startsWith(encodedPrefix)) return undefined;
  return readTaggedState(Buffer.from(signature, 'base64').toString());
}

/** `dps1` in base64, without the last bits, which depend on the next character. */
const encodedPrefix = 'ZHBzM';

/** Marks a call without a signature, so that a route to Google puts a placeholder in its place. */
export const noSignature = encodeSignature(tagState({ kind: 'none', origin: '00000000', data: '' }));

/** Tags the signatures in the text of a reply and leaves every other byte unchanged. */
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
 * Replaces a signature that another vendor made or that the client lost. Source: Gemini docs, "Thought
 * signatures".
 */
export const skipValidation = 'skip_thought_signature_validator';

/**
 * Models with thinking levels reject a first call without a signature; models with budgets do not know the placeholder.
 */
export function requiresSignatures({ quirks: { reasoning } }: Profile): boolean {
  return reasoning !== 'budget' && reasoning !== 'none';
}
