import type { GatewayError } from '#core/errors/table.ts';
import type { JsonObject } from '#core/json.ts';
import { readRefusal, readReportedError, reportedFailure } from '#core/model-call/upstream-error.ts';

/** The error that a reply or an event reports; undefined when it reports none. */
export function readFailure(body: JsonObject): GatewayError | undefined;
/** @param isCertain when status or type mark it as an error, even without a message */
export function readFailure(body: JsonObject, isCertain: true): GatewayError;
export function readFailure(body: JsonObject, isCertain = false): GatewayError | undefined {
  const reported = isCertain ? readRefusal(body) : readReportedError(body);
  return reported && reportedFailure(reported);
}
