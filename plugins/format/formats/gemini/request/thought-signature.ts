import type { Profile } from '#core/config/catalog/profile.ts';
import type { OpaqueState } from '../../../canonical/conversation.ts';
import { readTaggedState, tagState } from '../../../canonical/opaque-state.ts';

/** `dps1` in base64, without the last bits, which depend on the next character. */
const encodedTagPrefix = 'ZHBzM';

/** Encodes a tagged thought signature in base64, because typed clients reject anything else. */
export function encodeSignature(tagged: string): string {
  return Buffer.from(tagged).toString('base64');
}

/** Decodes a signature; undefined if it lacks the gateway's tag. Also accepts base64url, which some clients write. */
export function decodeSignature(signature: string): OpaqueState | undefined {
  if (!signature.startsWith(encodedTagPrefix)) return undefined;
  return readTaggedState(Buffer.from(signature, 'base64').toString());
}

/** Marks a call that has no signature. For a route to Google, the mark is replaced by a placeholder. */
export const missingSignatureMark = encodeSignature(tagState({ kind: 'none', origin: '00000000', data: '' }));

/** Tags the signatures in a reply's text and leaves every other byte unchanged. */
export function tagSignatures(text: string, origin: string): string {
  if (!text.includes('"thoughtSignature"')) return text;
  // Quotes inside strings are escaped, so they do not match.
  return text.replace(
    /("thoughtSignature"\s*:\s*)"(?=[^"])([^"\\]*(?:\\.[^"\\]*)*)"/g,
    (whole, name: string, value: string) => {
      const data = unescapeJson(value);
      return data === undefined ? whole : `${name}"${encodeSignature(tagState({ kind: 'thought', origin, data }))}"`;
    },
  );
}

function unescapeJson(value: string): string | undefined {
  try {
    // Google escapes `=`.
    return JSON.parse(`"${value}"`) as string;
  } catch {
    return undefined;
  }
}

/** Replaces another vendor's signature, or one that the client lost. Source: Gemini docs, "Thought signatures". */
export const signaturePlaceholder = 'skip_thought_signature_validator';

/** Returns true for models that reject a first call without a signature. Models with thinking budgets do not support the placeholder. */
export function requiresSignatures({ quirks: { reasoning } }: Profile): boolean {
  return reasoning !== 'budget' && reasoning !== 'none';
}
