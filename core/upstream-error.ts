import { GatewayError } from './errors.ts';
import { isJsonObject, type JsonObject, type JsonValue } from './json.ts';

/** What an upstream says about an error, in whichever of the many shapes. */
export interface ReportedError {
  readonly message: string | undefined;
  readonly type: string | undefined;
  readonly code: string | undefined;
  readonly param: string | undefined;
}

/**
 * Reads `{error: {message, type, code, param}}`, `{error: "text"}`, `{object: "error", message}` and `{base_resp}`.
 * Undefined when the value reports no error, as far as that can be told without a status.
 */
export function readReportedError(body: JsonValue | undefined): ReportedError | undefined {
  if (!isJsonObject(body)) return undefined;
  const { error } = body;
  if (isJsonObject(error)) return describe(error);
  if (typeof error === 'string' && error !== '') return { ...describe(body), message: error };
  if (body['object'] === 'error') return describe(body);
  const status = isJsonObject(body['base_resp']) ? body['base_resp'] : undefined;
  if (status === undefined || status['status_code'] === 0 || status['status_code'] === undefined) return undefined;
  return { message: text(status['status_msg']), type: undefined, code: text(status['status_code']), param: undefined };
}

/** The same for a body that came with an error status: then a bare `message` or `detail` is one too. */
export function readRefusal(body: JsonObject | undefined): ReportedError {
  return readReportedError(body) ?? describe(body ?? {});
}

/** How vendors say that a prompt is longer than the model's context. */
const overflowWords =
  /prompt is too long|maximum context length|context (length|window)|input token count.*exceed|too many (input )?tokens|range of input length/i;

export function isContextOverflow({ code, message }: Pick<ReportedError, 'code' | 'message'>): boolean {
  return code === 'context_length_exceeded' || overflowWords.test(message ?? '');
}

/** How vendors and their resellers say that they have no room, whatever status they say it with. */
const capacityWords =
  /\b(currently|temporarily|is) (overloaded|unavailable|busy|at capacity|out of capacity)|\boverloaded_error|server_is_overloaded|\bslow_down\b|no (available|healthy) (channel|account|provider|upstream|server|capacity)|(insufficient|not enough|exceeded) capacity|capacity (exceeded|reached)/i;

/** True for a refusal that says nothing about the request: the same request would be served with more room, or elsewhere. */
export function isOutOfCapacity({ type, code, message }: Pick<ReportedError, 'type' | 'code' | 'message'>): boolean {
  if (isContextOverflow({ code, message })) return false;
  return [type, code, message].some((said) => said !== undefined && capacityWords.test(said));
}

/** How vendors say that they do not have the model. The client's model is ours: it exists. */
const modelWords =
  /\bmodel\b.*(not found|not exist|not supported|not available|no access|not have access)|no such model/i;

export function isUnknownModel({ code, message }: Pick<ReportedError, 'code' | 'message'>): boolean {
  return code === 'model_not_found' || modelWords.test(message ?? '');
}

/** An error that came inside a 200: as far as the client is concerned, the upstream has failed. */
export function reportedFailure(reported: ReportedError | undefined): GatewayError {
  const message = reported?.message ?? 'no message';
  return new GatewayError('upstream_failed', `the upstream reported an error: ${message.slice(0, 500)}`);
}

function describe(error: JsonObject): ReportedError {
  const { detail } = error;
  return {
    message: text(error['message']) ?? (detail === undefined ? undefined : (text(detail) ?? JSON.stringify(detail))),
    type: text(error['type']) ?? text(error['status']),
    code: text(error['code']),
    param: text(error['param']),
  };
}

function text(value: JsonValue | undefined): string | undefined {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value !== '' ? value : undefined;
}
