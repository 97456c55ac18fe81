import { createHash } from 'node:crypto';
import type { Upstream } from '#core/config/catalog/catalog.ts';
import type { OpaqueState, StateKind } from './conversation.ts';

/**
 * Vendors refuse opaque reasoning state that another vendor has made, and with it every later request of the conversation.
 * The gateway therefore puts a tag with the origin in front of it, and sends it back only to that origin. State without a
 * tag is of unknown origin and is dropped.
 *
 * `dps1` kind origin `.` data, for instance `dps1s4fa61b0c.EqQBCkYIBRgC…`
 */
const prefix = 'dps1';
const letters: Readonly<Record<StateKind, string>> = {
  signature: 's',
  redacted: 'x',
  encrypted: 'e',
  thought: 't',
  none: 'n',
};
const kinds = new Map(Object.entries(letters).map(([kind, letter]) => [letter, kind as StateKind]));
const tagPattern = /^dps1([sxetn])([0-9a-f]{8})\./;
const headLength = prefix.length + 1 + 8 + 1;

/** Eight hex digits for an upstream: name and address, because another account of the same vendor is another origin. */
export function originOf(upstream: Pick<Upstream, 'name' | 'baseUrl'>): string {
  let origin = origins.get(upstream);
  if (origin === undefined) {
    origin = createHash('sha256').update(`${upstream.name}\n${upstream.baseUrl}`).digest('hex').slice(0, 8);
    origins.set(upstream, origin);
  }
  return origin;
}

/** Cached, because every pass-through reply needs its origin, and hashing was among the costliest steps of a small request. */
const origins = new WeakMap<Pick<Upstream, 'name' | 'baseUrl'>, string>();

/** Opaque state as a client gets it. */
export function tagState({ kind, origin, data }: OpaqueState): string {
  return `${prefix}${letters[kind]}${origin}.${data}`;
}

/** Undefined when it has no tag of ours. */
export function readTaggedState(text: string): OpaqueState | undefined {
  const match = tagPattern.exec(text);
  const kind = kinds.get(match?.[1] ?? '');
  if (match === null || kind === undefined) return undefined;
  return { kind, origin: match[2] as string, data: text.slice(headLength) };
}
