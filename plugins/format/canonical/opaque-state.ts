import { createHash } from 'node:crypto';
import type { Upstream } from '#core/catalog/catalog.ts';
import type { OpaqueState, StateKind } from './conversation.ts';

/**
 * Vendors seal what their models thought, and refuse what another has sealed: a conversation with one foreign seal in it
 * stays broken. So whatever the gateway hands out carries a tag in front that says who has made it, and on its way back
 * goes only there. What carries no tag is of unknown origin and goes nowhere.
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

/** Asked for by every reply that passes through: a hash each time was one of the dearest steps of a small request. */
const origins = new WeakMap<Pick<Upstream, 'name' | 'baseUrl'>, string>();

/** Sealed state as a client gets it. */
export function tagState({ kind, origin, data }: OpaqueState): string {
  return `${prefix}${letters[kind]}${origin}.${data}`;
}

/** Undefined when there is no tag of ours on it. */
export function readTaggedState(text: string): OpaqueState | undefined {
  const match = tagPattern.exec(text);
  const kind = kinds.get(match?.[1] ?? '');
  if (match === null || kind === undefined) return undefined;
  return { kind, origin: match[2] as string, data: text.slice(headLength) };
}
