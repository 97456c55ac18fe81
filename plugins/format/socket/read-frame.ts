import { GatewayError } from '#core/platform/errors/table.ts';
import { type JsonValue, parseJson } from '#core/platform/json.ts';
import { protocolErrors, ProtocolFault } from './error-frames.ts';
import { type RawMember, memberSpans } from './member-spans.ts';

/** A client's frame: the type of its event and its bytes. */
export interface ClientFrame {
  readonly type: string;
  readonly bytes: Buffer;
  readonly members: readonly RawMember[];
}

/** A request for a response. */
export interface CreateFrame extends ClientFrame {
  /** The lane; undefined for the lane without a name. */
  readonly streamId: string | undefined;
  readonly previousId: string | undefined;
  /** False to prepare a conversation only. */
  readonly generates: boolean;
}

const repeated = 100; // maximum characters of a name in a rejection
const laneName = /^[A-Za-z0-9_.-]{1,256}$/;

/** @throws GatewayError `invalid_request` if the bytes are not an event */
export function readFrame(bytes: Buffer): ClientFrame {
  const members = memberSpans(bytes);
  if (members === undefined) throw refusal('The message is not a valid JSON object.');
  const frame = { type: '', bytes, members };
  const type = valueOf(frame, 'type');
  if (typeof type !== 'string' || type === '') throw refusal('The event has no `type`.', 'type');
  return { ...frame, type };
}

/** The text in a member of an event; undefined for anything else. */
export function textOf(frame: ClientFrame, name: string): string | undefined {
  const value = valueOf(frame, name);
  return typeof value === 'string' ? value : undefined;
}

/** The lane that an event names. Its rejection must name it too: clients wait for it there. Undefined if missing or not a valid name. */
export function namedLane(frame: ClientFrame): string | undefined {
  const streamId = textOf(frame, 'stream_id');
  return streamId !== undefined && laneName.test(streamId) ? streamId : undefined;
}

/** @throws GatewayError `invalid_request`, ProtocolFault for the name of a lane that is not valid */
export function readCreate(frame: ClientFrame): CreateFrame {
  const streamId = valueOf(frame, 'stream_id');
  if (streamId !== undefined && !(typeof streamId === 'string' && laneName.test(streamId)))
    throw new ProtocolFault(protocolErrors.invalidStreamId);
  if (valueOf(frame, 'background') === true)
    throw refusal('Background responses are not available over a WebSocket. Send a POST request.', 'background');
  const twice = frame.members.find(
    ({ name }, index) => name === 'input' && frame.members.findIndex((other) => other.name === name) !== index,
  );
  if (twice !== undefined) throw refusal('The event has `input` twice.', 'input');
  const previousId = valueOf(frame, 'previous_response_id');
  if (previousId !== undefined && previousId !== null && typeof previousId !== 'string')
    throw refusal('`previous_response_id` must be a string.', 'previous_response_id');
  return {
    ...frame,
    streamId: streamId as string | undefined,
    previousId: previousId ?? undefined,
    generates: valueOf(frame, 'generate') !== false,
  };
}

/** @throws GatewayError `invalid_request` for an event that clients cannot send here */
export function refuseEvent({ type }: ClientFrame): never {
  throw refusal(`Events of type "${type.slice(0, repeated)}" are not supported. Send \`response.create\`.`, 'type');
}

/** If a member occurs several times, the last one counts, as in JSON.parse. */
function valueOf({ bytes, members }: Pick<ClientFrame, 'bytes' | 'members'>, name: string): JsonValue | undefined {
  const span = members.findLast((member) => member.name === name);
  if (span === undefined) return undefined;
  const value = parseJson(bytes.toString('utf8', span.valueBegin, span.end));
  if (value === undefined) throw refusal(`\`${name}\` is not valid JSON.`, name);
  return value as JsonValue;
}

function refusal(message: string, param?: string): GatewayError {
  return new GatewayError('invalid_request', message, param === undefined ? {} : { param });
}
