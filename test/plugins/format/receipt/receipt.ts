import { GatewayError } from '#core/platform/errors/table.ts';
import type { JsonObject } from '#core/platform/json.ts';
import { openCall } from '../../../../plugins/format/routes/model-call.ts';
import { modelOf } from '../catalog/catalog-fixture.ts';
import { exchange, requestOf } from '../invariants/fixture.ts';
import { framed } from './frame.ts';
import type { Probe } from './published.ts';
import type { ClientFormatName, NamedRoute } from './routes.ts';
import { checkParameters } from '../../../../plugins/format/formats/contract/parameters.ts';
import { descriptors } from '../../../support/formats.ts';

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

export function receiptOf(format: ClientFormatName, { path, value, without }: Probe, to: NamedRoute): Receipt {
  const fate = fateOf(format, value, to);
  const names = path.split(/[.[\]()]+/).filter((name) => name !== '');
  if ('refusal' in fate) {
    const said = `${fate.refusal.message} ${String(fate.refusal.details.param ?? '')}`;
    return names.some((name) => said.includes(name)) ? 'refused' : 'refused without its name';
  }
  const before = fateOf(format, without, to);
  if ('refusal' in before || before.sent !== fate.sent) return 'arrives';
  const bare = fateOf(format, {}, to);
  const known = 'refusal' in bare ? [] : bare.notes;
  // What stands in something that is noted as lost is lost with it.
  return [...fate.notes, ...before.notes].some((note) => !known.includes(note)) ? 'noted' : 'silent';
}
