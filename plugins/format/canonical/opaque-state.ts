import { createHash } from 'node:crypto';
import type { Upstream } from '#core/config/catalog/catalog.ts';
import type { EncodeTarget, UpstreamCodec } from './codec.ts';
import type { OpaqueState, StateKind } from './conversation.ts';

/**
 * Vendors reject a request that contains another vendor's opaque reasoning state, and therefore every later request of the conversation.
 * The gateway therefore prefixes the state with a tag that names its origin, and sends the state back only to that origin. State without a
 * tag is dropped, because its origin is unknown.
 *
 * Format: `dps1` kind origin `.` data, for example `dps1s4fa61b0c.EqQBCkYIBRgC…`
 */
const prefix = 'dps1';
const kindLetters: Readonly<Record<StateKind, string>> = {
  signature: 's',
  redacted: 'x',
  encrypted: 'e',
  thought: 't',
  none: 'n',
};
const kindsByLetter = new Map(Object.entries(kindLetters).map(([kind, letter]) => [letter, kind as StateKind]));
const tagPattern = /^dps1[sxetn][0-9a-f]{8}\./;
const originLength = 8; // hex digits
const tagLength = prefix.length + 1 + originLength + 1;

/** Cached, because every pass-through reply needs its origin, and hashing was among the costliest steps of a small request. */
const origins = new WeakMap<Pick<Upstream, 'name' | 'baseUrl'>, string>();

/** Derives the origin from an upstream's name and URL, so that another account at the same vendor is a different origin. */
export function deriveOrigin(upstream: Pick<Upstream, 'name' | 'baseUrl'>): string {
  let origin = origins.get(upstream);
  if (origin === undefined) {
    origin = createHash('sha256').update(`${upstream.name}\n${upstream.baseUrl}`).digest('hex').slice(0, originLength);
    origins.set(upstream, origin);
  }
  return origin;
}

export function tagState({ kind, origin, data }: OpaqueState): string {
  return `${prefix}${kindLetters[kind]}${origin}.${data}`;
}

export function readTaggedState(text: string): OpaqueState | undefined {
  const kind = tagPattern.test(text) ? kindsByLetter.get(text.charAt(prefix.length)) : undefined;
  return kind && { kind, origin: text.slice(prefix.length + 1, tagLength - 1), data: text.slice(tagLength) };
}

/** Finds only states that this upstream created and its format accepts. */
export function createStateLookup(
  { stateKinds }: Pick<UpstreamCodec, 'stateKinds'>,
  origin: string,
): EncodeTarget['findAcceptedState'] {
  return (state) => (state?.origin === origin && stateKinds.includes(state.kind) ? state.data : undefined);
}
