import type { OpaqueState } from '../canonical/conversation.ts';
import { readTaggedState } from '../canonical/opaque-state.ts';

/**
 * Thought signatures are bytes, written in base64, and clients that have types refuse anything else: so our tag goes
 * into the base64 as well.
 */
export function writeSeal(tagged: string): string {
  return Buffer.from(tagged).toString('base64');
}

/** Undefined for what carries no tag of ours. Takes base64url, too: clients write bytes as they like. */
export function readSeal(signature: string): OpaqueState | undefined {
  return readTaggedState(signature) ?? readTaggedState(Buffer.from(signature, 'base64').toString());
}
