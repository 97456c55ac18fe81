import type { Route } from '#core/config/catalog/catalog.ts';
import { profileIn } from '#core/config/catalog/profile.ts';
import type { UpstreamRequest } from '#core/gateway/model-call/adapter.ts';
import type { JsonObject } from '#core/platform/json.ts';
import { Notes } from '../../canonical/notes.ts';
import { deriveOrigin } from '../../canonical/opaque-state.ts';
import { removeAccountChoices } from '../../formats/adaptation/account-choices.ts';
import { isolateCache } from '../../formats/adaptation/isolate-cache.ts';
import type { AdaptationTarget } from '../../formats/contract/adaptation.ts';
import { type InsertedMember, isClientTextFormat, isTextFormat } from '../../formats/contract/descriptor.ts';
import { deriveCacheMark, type ClientRequest, selectEndUser } from '../../request/client-request.ts';
import { findMissingUsageOption } from '../translation/encode-for-route.ts';
import { rewriteModel } from './rewrite-model.ts';
import { hasTaggedState, filterState } from './tagged-state.ts';

interface AdaptedRequest {
  readonly body: UpstreamRequest['body'];
  readonly notes?: readonly string[];
  /** Stop sequences that the route does not support. The gateway cuts the answer off at them. */
  readonly gatewayStops?: readonly string[];
}

/**
 * Adapts a client's request to a route of the same format. Usually only the model's name changes, and every other byte is unchanged.
 *
 * @throws GatewayError `not_supported`, `invalid_request`, see `Adaptation`
 */
export function adaptRequest(client: ClientRequest, route: Route): AdaptedRequest {
  const { outline, content } = client;
  const unchangedAdaptation = adaptUnchanged(client, route);
  if (unchangedAdaptation !== undefined) return createUnchangedRequest(client, outline, route, unchangedAdaptation);
  const { body } = content;
  const adaptation = adaptBody(client, body, route);
  if (adaptation.body === body) return createUnchangedRequest(client, body, route, adaptation);
  // Serializing the parsed body would round large numbers in the inputs of calls.
  const { exactBody } = content;
  return createChangedRequest(
    client,
    exactBody,
    route,
    exactBody === body ? adaptation : adaptBody(client, exactBody, route),
  );
}

/** Returns true if a route gets the client's bytes except for the model's name, so the texts of a long request need not be read. */
export function isPassedThrough(client: ClientRequest, route: Route): boolean {
  return adaptUnchanged(client, route) !== undefined;
}

/** If only the model's name changes, `body` is the parsed object itself. */
interface BodyAdaptation {
  readonly body: JsonObject;
  readonly usageOption: InsertedMember | undefined;
  readonly notes: Notes;
}

/** Returns undefined if the request must be changed or may be refused, because that needs the whole body. */
function adaptUnchanged(client: ClientRequest, route: Route): BodyAdaptation | undefined {
  const { outline, content } = client;
  // Stored reasoning can only be found by the complete input of a call.
  if (content.bodyOutline === undefined || client.storedReasoning?.hasStored === true) return undefined;
  try {
    const adaptation = adaptBody(client, outline, route);
    return adaptation.body === outline ? adaptation : undefined;
  } catch {
    return undefined;
  }
}

function adaptBody(client: ClientRequest, parsed: JsonObject, route: Route): BodyAdaptation {
  const { format, purpose, isStream, storedReasoning } = client;
  const { dropForeignReasoning, completeWithoutState: complete, setCountedModel, adapt: adaptOther } = format.client;
  const notes = new Notes();
  const profile = profileIn(format.name, route.profile);
  const endUser = selectEndUser(client, route);
  const origin = deriveOrigin(route.upstream);
  const target: AdaptationTarget = { profile, notes, origin, storedReasoning, endUser };
  const withReasoning = dropForeignReasoning?.(parsed, target) ?? parsed;
  const adapt = isTextFormat(format) ? format.text.adapt : adaptOther;
  const adaptedBody = removeAccountChoices(adapt?.(withReasoning, target) ?? withReasoning, route.upstream, notes);
  const isolatedBody = isolateCache(adaptedBody, format.name, deriveCacheMark(client, route), target);
  const untaggedBody = hasTaggedState(withReasoning) ? filterState(isolatedBody, route, notes) : isolatedBody;
  const completedBody = complete?.(untaggedBody, parsed, target) ?? untaggedBody;
  const body = purpose === 'count' ? (setCountedModel?.(completedBody, route.model) ?? completedBody) : completedBody;
  const usage = isTextFormat(format) && isStream ? findMissingUsageOption(format, body, profile) : undefined;
  return { body, usageOption: usage, notes };
}

function createUnchangedRequest(
  { format, content }: ClientRequest,
  parsed: JsonObject,
  route: Route,
  { usageOption: usage }: BodyAdaptation,
): AdaptedRequest {
  const body =
    format.client.isModelInPath === true ? content.upstreamBytes : rewriteModel(content, parsed['model'], route.model);
  return { body: usage === undefined ? body : insertMember(body, usage.prefix) };
}

function createChangedRequest(
  client: ClientRequest,
  requestedBody: JsonObject,
  route: Route,
  { body, usageOption, notes }: BodyAdaptation,
): AdaptedRequest {
  const { quirks } = profileIn(client.format.name, route.profile);
  const isModelInPath = client.format.client.isModelInPath === true || quirks.vertex;
  const upstreamBody = isModelInPath ? body : { ...body, model: route.model };
  return {
    body: JSON.stringify(
      usageOption === undefined ? upstreamBody : { [usageOption.name]: usageOption.value, ...upstreamBody },
    ),
    notes: notes.entries,
    ...findGatewayStops(client, requestedBody, upstreamBody),
  };
}

function findGatewayStops({ format }: ClientRequest, requestedBody: JsonObject, sentBody: JsonObject) {
  if (!isClientTextFormat(format) || !format.client.text.isSingleChoice(requestedBody)) return {};
  const upstreamStops = format.text.readStopSequences(sentBody);
  const gatewayStops = format.text
    .readStopSequences(requestedBody)
    .filter((sequence) => !upstreamStops.includes(sequence));
  return gatewayStops.length === 0 ? {} : { gatewayStops };
}

const openingBrace = 0x7b;

/** @param prefix replaces the opening brace of the body */
function insertMember(body: UpstreamRequest['body'], prefix: Buffer): UpstreamRequest['body'] {
  const [first, ...others] = toPieces(body);
  if (first?.[0] !== openingBrace) return body;
  const start = Buffer.concat([prefix, first.subarray(1)]);
  return others.length === 0 ? start : [start, ...others];
}

function toPieces(body: UpstreamRequest['body']): readonly Buffer[] {
  if (typeof body === 'string') return [Buffer.from(body)];
  return Buffer.isBuffer(body) ? [body] : body;
}
