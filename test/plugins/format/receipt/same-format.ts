import { GatewayError } from '#core/platform/errors/table.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import { PassThrough } from '../../../../plugins/format/routes/pass-through/pass-through.ts';
import { eventsOf, exchange, requestOf } from '../invariants/fixture.ts';
import { bytesOf, framedAnswer, framedStream } from './frame-answer.ts';
import type { Probe } from './published.ts';
import type { ClientFormatName, NamedRoute } from './routes.ts';

/**
 * Paths of values in an answer, or in an event of one, that a client of the same format does not get as the vendor has sent
 * them. An answer that becomes an error is one path: that of the probe, and `fails`.
 */
export function changesOf(
  format: ClientFormatName,
  to: NamedRoute,
  probe: Probe,
  isStream: boolean,
): readonly string[] {
  try {
    return isStream ? changesOfEvent(format, to, probe.value) : changesOfAnswer(format, to, probe.value);
  } catch (error) {
    if (error instanceof GatewayError) return [`${probe.path} fails`];
    throw error;
  }
}

function changesOfAnswer(format: ClientFormatName, { route }: NamedRoute, members: JsonObject): readonly string[] {
  const given = framedAnswer(format, members);
  const reader = new PassThrough(exchange, requestOf(format).with({ isStream: false }), route).createReader();
  const { body } = reader.whole(Buffer.from(JSON.stringify(given)), 'application/json');
  return changed(given, JSON.parse(body.toString()) as JsonObject);
}

/** @throws GatewayError with which the stream ends */
function changesOfEvent(format: ClientFormatName, { route }: NamedRoute, members: JsonObject): readonly string[] {
  const { event, all } = framedStream(format, members);
  const reader = new PassThrough(exchange, requestOf(format), route).createReader();
  const got = Buffer.concat([reader.push(bytesOf(all, format)), reader.end()]).toString();
  if (reader.failure !== undefined) throw reader.failure;
  const events = eventsOf(got).filter(({ data }) => data !== '[DONE]');
  const changes = events.map(({ data }) => changed(event, JSON.parse(data) as JsonObject));
  return changes.toSorted((one, other) => one.length - other.length)[0] ?? ['nothing arrives'];
}

/** Paths of values that are others, or missing, in another value. */
function changed(given: JsonValue, got: JsonValue | undefined, path = ''): readonly string[] {
  if (Array.isArray(given))
    return given.flatMap((entry, index) => changed(entry, Array.isArray(got) ? got[index] : undefined, `${path}[]`));
  if (!isJsonObject(given)) return given === got ? [] : [path];
  if (!isJsonObject(got)) return [path];
  return Object.entries(given).flatMap(([name, value]) =>
    changed(value as JsonValue, got[name], path === '' ? name : `${path}.${name}`),
  );
}
