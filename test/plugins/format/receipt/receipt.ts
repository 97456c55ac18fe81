import { isDeepStrictEqual } from 'node:util';
import { GatewayError } from '#core/platform/errors/table.ts';
import { isJsonObject, type JsonObject } from '#core/platform/json.ts';
import { checkParameters } from '../../../../plugins/format/formats/contract/parameters.ts';
import { openCall } from '../../../../plugins/format/routes/model-call.ts';
import { descriptors } from '../../../support/formats.ts';
import { modelOf } from '../catalog/catalog-fixture.ts';
import { exchange, requestOf } from '../invariants/fixture.ts';
import { framed } from './frame.ts';
import type { Probe } from './published.ts';
import type { ClientFormatName, NamedRoute } from './routes.ts';

/** What becomes of a request on a route. */
type Fate = { readonly sent: string; readonly notes: readonly string[] } | { readonly refusal: GatewayError };

/** What becomes of a member: it arrives, is refused by its name, is noted, or is lost in silence. */
export type Receipt = 'arrives' | 'refused' | 'noted' | 'silent' | 'refused without its name';

const fates = new Map<string, Fate>();

function fateOf(format: ClientFormatName, members: JsonObject, to: NamedRoute): Fate {
  const key = `${format} ${to.name} ${JSON.stringify(members)}`;
  const known = fates.get(key);
  if (known !== undefined) return known;
  const fate = send(format, members, to);
  fates.set(key, fate);
  return fate;
}

function send(format: ClientFormatName, members: JsonObject, { route }: NamedRoute): Fate {
  try {
    const body = framed(format, members);
    checkParameters(body, descriptors[format].client.parameters, []);
    const call = openCall(
      exchange,
      modelOf('test', [], { routes: [route] }),
      requestOf(format, body).with({ isStream: false }),
    );
    const sent = call.encode(route);
    return {
      sent: Buffer.concat([sent.body].flat().map((piece) => Buffer.from(piece))).toString(),
      notes: sent.notes ?? [],
    };
  } catch (error) {
    if (error instanceof GatewayError) return { refusal: error };
    throw error;
  }
}

/**
 * Values of a member that are sent as if they were one, without a note: `low = high`. One of them may be what a request without
 * the member means.
 */
export function mergedValues(format: ClientFormatName, probes: readonly Probe[], to: NamedRoute): string[] {
  const distinct = new Map(probes.filter(({ scalar }) => scalar !== undefined).map((one) => [one.scalar, one]));
  const groups = Map.groupBy(distinct.values(), (probe) =>
    JSON.stringify([outcomeOf(fateOf(format, probe.value, to)), typeof probe.scalar]),
  );
  return [...groups.values()]
    .filter((group) => group.length > 1 && group.every((probe) => receiptOf(format, probe, to) !== 'refused'))
    .map((group) => group.map(({ scalar }) => String(scalar)).join(' = '));
}

/** True when a member makes a difference, has a note or is refused where another member is, too. */
export function isHeardBeside(format: ClientFormatName, one: Probe, other: Probe, to: NamedRoute): boolean {
  const members = merge(one.value, other.value);
  // What is required is there in any case.
  if (isDeepStrictEqual(members, other.value)) return true;
  const both = fateOf(format, members, to);
  const alone = fateOf(format, other.value, to);
  if ('refusal' in both || 'refusal' in alone || outcomeOf(both) !== outcomeOf(alone)) return true;
  // One note stands for all members of an object.
  const own = fateOf(format, one.value, to);
  const isNoted = receiptOf(format, one, to) === 'noted';
  return isNoted && 'notes' in own && own.notes.every((note) => both.notes.includes(note));
}

function merge(one: JsonObject, other: JsonObject): JsonObject {
  const merged = Object.entries(other).map(([name, value]) => {
    const own = one[name];
    return [name, isJsonObject(own) && isJsonObject(value) ? merge(own, value) : value] as const;
  });
  return { ...one, ...Object.fromEntries(merged) } as JsonObject;
}

/** A note may stand for any value. */
function outcomeOf(fate: Fate): string {
  return 'refusal' in fate ? fate.refusal.message : JSON.stringify([fate.sent, fate.notes]);
}

/** An object that no route supports takes its members with it; one that is malformed says nothing of them. */
function isRefusalOf(path: string, { code, message, details }: GatewayError): boolean {
  const said = `${message} ${String(details.param ?? '')}`;
  const names = path.split(/[.[\]()]+/).filter((name) => name !== '');
  const own = code === 'invalid_request' ? names.slice(-1) : names;
  return own.some((name) => said.includes(name));
}

export function receiptOf(format: ClientFormatName, { path, value, without }: Probe, to: NamedRoute): Receipt {
  const fate = fateOf(format, value, to);
  if ('refusal' in fate) return isRefusalOf(path, fate.refusal) ? 'refused' : 'refused without its name';
  const before = fateOf(format, without, to);
  if ('refusal' in before || before.sent !== fate.sent) return 'arrives';
  const bare = fateOf(format, {}, to);
  const known = 'refusal' in bare ? [] : bare.notes;
  // What stands in something that is noted as lost is lost with it.
  return [...fate.notes, ...before.notes].some((note) => !known.includes(note)) ? 'noted' : 'silent';
}
