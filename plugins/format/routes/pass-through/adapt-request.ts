import type { Route } from '#core/config/catalog/catalog.ts';
import { profileIn } from '#core/config/catalog/profile.ts';
import type { UpstreamRequest } from '#core/gateway/model-call/adapter.ts';
import type { JsonObject } from '#core/platform/json.ts';
import { Notes } from '../../canonical/notes.ts';
import { originOf } from '../../canonical/opaque-state.ts';
import { cacheMarkFor, type ClientRequest, endUserFor } from '../../request/client-request.ts';
import { type InsertedMember, isClientTextFormat, isTextFormat } from '../../formats/contract/descriptor.ts';
import { withoutAccountChoices } from '../../formats/adaptation/account-choices.ts';
import { isolateCache } from '../../formats/adaptation/isolate-cache.ts';
import { hasTaggedState, withOwnState } from './own-state.ts';
import { rewriteModel } from './rewrite-model.ts';
import { missingUsageOption } from '../translation/encode-for-route.ts';

interface AdaptedRequest {
  readonly body: UpstreamRequest['body'];
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
  const { outline, content } = client;
  const asIs = settleUnchanged(client, route);
  if (asIs !== undefined) return passOn(client, outline, route, asIs);
  const { body } = content;
  const settled = settle(client, body, route);
  if (settled.body === body) return passOn(client, body, route, settled);
  // Serialized again, inputs of calls would lose what a double cannot hold.
  const { exact } = content;
  return write(client, exact, route, exact === body ? settled : settle(client, exact, route));
}

/** True when a route gets the client's bytes, with another name of the model: the texts of a long request are not needed. */
export function isPassedOn(client: ClientRequest, route: Route): boolean {
  return settleUnchanged(client, route) !== undefined;
}

/** A request for a route; the same object if only the model's name changes. */
interface Settled {
  readonly body: JsonObject;
  readonly usage: InsertedMember | undefined;
  readonly notes: Notes;
}

/** Undefined when something changes, or may be refused, for which all of the request is read. */
function settleUnchanged(client: ClientRequest, route: Route): Settled | undefined {
  const { outline, content } = client;
  // Kept reasoning is found by the whole inputs of calls.
  if (content.cut === undefined || client.kept?.hasFound === true) return undefined;
  try {
    const settled = settle(client, outline, route);
    return settled.body === outline ? settled : undefined;
  } catch {
    return undefined;
  }
}

function settle(client: ClientRequest, parsed: JsonObject, route: Route): Settled {
  const { format, purpose, isStream, kept: reasoning } = client;
  const { ownReasoning, settle: complete, nameCounted, adapt: adaptOther } = format.client;
  const notes = new Notes();
  const profile = profileIn(format.name, route.profile);
  const endUser = endUserFor(client, route);
  const target = { profile, notes, origin: originOf(route.upstream), kept: reasoning, endUser };
  const kept = ownReasoning?.(parsed, target) ?? parsed;
  const adapt = isTextFormat(format) ? format.text.adapt : adaptOther;
  const adapted = withoutAccountChoices(adapt?.(kept, target) ?? kept, route.upstream, notes);
  const apart = isolateCache(adapted, format.name, cacheMarkFor(client, route), target);
  const own = hasTaggedState(kept) ? withOwnState(apart, route, notes) : apart;
  const completed = complete?.(own, parsed, target) ?? own;
  const body = purpose === 'count' ? (nameCounted?.(completed, route.model) ?? completed) : completed;
  const usage = isTextFormat(format) && isStream ? missingUsageOption(format, body, profile) : undefined;
  return { body, usage, notes };
}

function passOn(
  { format, content }: ClientRequest,
  parsed: JsonObject,
  route: Route,
  { usage }: Settled,
): AdaptedRequest {
  const body =
    format.client.isModelInPath === true ? content.sent : rewriteModel(content, parsed['model'], route.model);
  return { body: usage === undefined ? body : insertMember(body, usage.prefix) };
}

function write(
  client: ClientRequest,
  wanted: JsonObject,
  route: Route,
  { body, usage, notes }: Settled,
): AdaptedRequest {
  const { quirks } = profileIn(client.format.name, route.profile);
  const isNamed = client.format.client.isModelInPath === true || quirks.vertex;
  const named = isNamed ? body : { ...body, model: route.model };
  return {
    body: JSON.stringify(usage === undefined ? named : { [usage.name]: usage.value, ...named }),
    notes: notes.entries,
    ...localStopsOf(client, wanted, named),
  };
}

function localStopsOf({ format }: ClientRequest, wanted: JsonObject, sent: JsonObject) {
  if (!isClientTextFormat(format) || !format.client.text.isSingleAnswer(wanted)) return {};
  const reported = format.text.reportedStops(sent);
  const localStops = format.text.reportedStops(wanted).filter((sequence) => !reported.includes(sequence));
  return localStops.length === 0 ? {} : { localStops };
}

const brace = 0x7b;

function insertMember(body: UpstreamRequest['body'], prefix: Buffer): UpstreamRequest['body'] {
  const [first, ...others] = piecesOf(body);
  if (first?.[0] !== brace) return body;
  const begin = Buffer.concat([prefix, first.subarray(1)]);
  return others.length === 0 ? begin : [begin, ...others];
}

function piecesOf(body: UpstreamRequest['body']): readonly Buffer[] {
  if (typeof body === 'string') return [Buffer.from(body)];
  return Buffer.isBuffer(body) ? [body] : body;
}
