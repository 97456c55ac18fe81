import type { Route } from '#core/config/catalog/catalog.ts';
import { profileIn } from '#core/config/catalog/profile.ts';
import type { JsonObject } from '#core/platform/json.ts';
import { Notes } from '../../canonical/notes.ts';
import { originOf } from '../../canonical/opaque-state.ts';
import { type ClientRequest, exactBody } from '../../request/client-request.ts';
import { isClientTextFormat, isTextFormat } from '../../formats/contract/descriptor.ts';
import { hasTaggedState, withOwnState } from './own-state.ts';
import { rewriteModel } from './rewrite-model.ts';
import { missingUsageOption } from '../translation/encode-for-route.ts';

export interface AdaptedRequest {
  readonly body: Buffer | string;
  readonly notes?: readonly string[];
  /** Stop sequences that the route does not take; the gateway cuts the answer at them. */
  readonly localStops?: readonly string[];
}

/**
 * Adapts a client's request to a route of the same format. Usually only the model's name changes; every other byte is what
 * the client sent.
 *
 * @throws GatewayError `not_supported`, `invalid_request`, see `Adaptation`
 */
export function adaptRequest(client: ClientRequest, route: Route): AdaptedRequest {
  return adaptBody(client, client.body, route);
}

function adaptBody(client: ClientRequest, parsed: JsonObject, route: Route): AdaptedRequest {
  const { format, text, purpose } = client;
  const { isModelInPath = false, ownReasoning, settle, nameCounted } = format.client;
  const notes = new Notes();
  const profile = profileIn(format.name, route.profile);
  const target = { profile, notes, origin: originOf(route.upstream), kept: client.kept };
  const kept = ownReasoning?.(parsed, target) ?? parsed;
  const adapted = isTextFormat(format) ? format.text.adapt(kept, target) : kept;
  const own = hasTaggedState(kept) ? withOwnState(adapted, route, notes) : adapted;
  const complete = settle?.(own, parsed, target) ?? own;
  const settled = purpose === 'count' ? (nameCounted?.(complete, route.model) ?? complete) : complete;
  const usage = isTextFormat(format) && client.isStream ? missingUsageOption(format, settled, profile) : undefined;
  if (settled === parsed) {
    const body = isModelInPath ? client.bytes : rewriteModel(client.bytes, text, parsed, route.model);
    return { body: usage === undefined ? body : insertMember(body, usage.prefix) };
  }
  // Serialized again, inputs of calls would lose what a double cannot hold.
  const exact = parsed === client.body ? exactBody(client) : parsed;
  if (exact !== parsed) return adaptBody(client, exact, route);
  const named = isModelInPath ? settled : { ...settled, model: route.model };
  return {
    body: JSON.stringify(usage === undefined ? named : { [usage.name]: usage.value, ...named }),
    notes: notes.entries,
    ...localStopsOf(client, parsed, named),
  };
}

function localStopsOf({ format }: ClientRequest, wanted: JsonObject, sent: JsonObject) {
  if (!isClientTextFormat(format) || !format.client.text.isSingleAnswer(wanted)) return {};
  const reported = format.text.reportedStops(sent);
  const localStops = format.text.reportedStops(wanted).filter((sequence) => !reported.includes(sequence));
  return localStops.length === 0 ? {} : { localStops };
}

const brace = 0x7b;

/** Inserts a member at the beginning of an object. */
function insertMember(body: Buffer | string, prefix: Buffer): Buffer | string {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  if (bytes[0] !== brace) return body;
  return Buffer.concat([prefix, bytes.subarray(1)]);
}
