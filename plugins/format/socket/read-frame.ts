import { GatewayError } from '#core/platform/errors/table.ts';
import { type JsonValue, parseJson } from '#core/platform/json.ts';
import { protocolErrors, ProtocolFault } from './error-frames.ts';
import { type RawMember, findMembers } from './member-spans.ts';

export interface ClientFrame {
  readonly type: string;
  readonly bytes: Buffer;
  readonly members: readonly RawMember[];
}

export interface CreateFrame extends ClientFrame {
  /** The lane; undefined for the unnamed one. */
  readonly streamId: string | undefined;
  readonly previousId: string | undefined;
  /** False if the request only prepares a conversation. */
  readonly generates: boolean;
}

const maxEchoLength = 100; // characters of a name that a rejection repeats
const laneNamePattern = /^[A-Za-z0-9_.-]{1,256}$/;

/** @throws GatewayError `invalid_request` if the bytes are not an event */
export function readFrame(bytes: Buffer): ClientFrame {
  const members = findMembers(bytes.toString('latin1'));
  if (members === undefined) throw createEventError('The message is not a valid JSON object.');
  const frame = { type: '', bytes, members };
  const type = readValue(frame, 'type');
  if (typeof type !== 'string' || type === '') throw createEventError('The event has no `type`.', 'type');
  return { ...frame, type };
}

export function readText(frame: ClientFrame, name: string): string | undefined {
  const value = readValue(frame, name);
  return typeof value === 'string' ? value : undefined;
}

/** Reads an event's lane for its rejection, because clients expect the rejection in the same lane; undefined if missing or invalid. */
export function readLaneName(frame: ClientFrame): string | undefined {
  const streamId = readText(frame, 'stream_id');
  return streamId !== undefined && laneNamePattern.test(streamId) ? streamId : undefined;
}

/** @throws GatewayError `invalid_request`; ProtocolFault for an invalid lane name */
export function readCreateFrame(frame: ClientFrame): CreateFrame {
  const streamId = readValue(frame, 'stream_id');
  if (streamId !== undefined && !(typeof streamId === 'string' && laneNamePattern.test(streamId)))
    throw new ProtocolFault(protocolErrors.invalidStreamId);
  if (readValue(frame, 'background') === true)
    throw createEventError(
      'Background responses are not available over a WebSocket. Send a POST request.',
      'background',
    );
  if (frame.members.filter(({ name }) => name === 'input').length > 1)
    throw createEventError('The event has `input` twice.', 'input');
  const previousId = readValue(frame, 'previous_response_id');
  if (previousId !== undefined && previousId !== null && typeof previousId !== 'string')
    throw createEventError('`previous_response_id` must be a string.', 'previous_response_id');
  return {
    ...frame,
    streamId,
    previousId: previousId ?? undefined,
    generates: readValue(frame, 'generate') !== false,
  };
}

export function refuseEvent({ type }: ClientFrame): never {
  throw createEventError(
    `Events of type "${type.slice(0, maxEchoLength)}" are not supported. Send \`response.create\`.`,
    'type',
  );
}

function readValue({ bytes, members }: Pick<ClientFrame, 'bytes' | 'members'>, name: string): JsonValue | undefined {
  // The last one counts, as in JSON.parse.
  const span = members.findLast((member) => member.name === name);
  if (span === undefined) return undefined;
  const value = parseJson(bytes.toString('utf8', span.valueStart, span.end));
  if (value === undefined) throw createEventError(`\`${name}\` is not valid JSON.`, name);
  return value as JsonValue;
}

function createEventError(message: string, param?: string): GatewayError {
  return new GatewayError('invalid_request', message, param === undefined ? {} : { param });
}
