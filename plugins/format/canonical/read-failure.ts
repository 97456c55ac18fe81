import { GatewayError } from '#core/errors.ts';
import type { JsonObject } from '#core/json.ts';
import {
  isContextOverflow,
  readRefusal,
  readReportedError,
  type ReportedError,
  reportedFailure,
} from '#core/upstream-error.ts';

/** The error that a reply or an event reports; undefined when it reports none. */
export function readFailure(body: JsonObject): GatewayError | undefined;
/** @param isCertain when the status or type of what has come says that it is an error, however little it tells */
export function readFailure(body: JsonObject, isCertain: true): GatewayError;
export function readFailure(body: JsonObject, isCertain = false): GatewayError | undefined {
  const reported = isCertain ? readRefusal(body) : readReportedError(body);
  return reported && failureOf(reported);
}

/** What a reported error is to the client, whichever format it came in. */
export function failureOf(reported: ReportedError): GatewayError {
  if (!isContextOverflow(reported)) return reportedFailure(reported);
  // Clients shorten the conversation when they are told in these words, and repeat it in vain when they are not.
  return new GatewayError('upstream_rejected', reported.message ?? 'the prompt is longer than the context', {
    upstream: { status: 400, code: 'context_length_exceeded', isContextOverflow: true },
  });
}
