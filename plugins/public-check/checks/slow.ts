import { failed, type Finding, ok } from '#core/gateway/diagnosis/finding.ts';
import { describeUnexpectedResponse, type PublicCaller } from '../caller.ts';
import { publicPaths } from '../paths.ts';

const timeoutAdvice =
  'Raise the timeout of the proxy for a response above `deadline` of the stage upstream (180 s): proxy_read_timeout in nginx, timeout server in HAProxy, timeout in a route of Envoy.';

/** Checks that the gateway's keep-alives keep a silent stream open. */
export async function checkSilence(caller: PublicCaller, seconds: number, signal: AbortSignal): Promise<Finding> {
  const response = await caller.call(publicPaths.silence, { query: { seconds }, signal });
  if (response.status !== 200) return describeUnexpectedResponse(response, timeoutAdvice);
  const pings = response.text.match(/^: keep-alive$/gm)?.length ?? 0;
  if (!response.isComplete || !response.text.includes('[DONE]'))
    return failed(`is cut off after ${response.seconds.toFixed(1)} s, with ${pings} keep-alives`, timeoutAdvice);
  return ok(`whole after ${seconds} s of silence, with ${pings} keep-alives`);
}

/** Checks that a slow non-streaming call gets its response. */
export async function checkSlowCall(caller: PublicCaller, seconds: number, signal: AbortSignal): Promise<Finding> {
  const response = await caller.call(publicPaths.wait, { query: { seconds }, signal });
  if (response.status !== 200 || !response.isComplete) return describeUnexpectedResponse(response, timeoutAdvice);
  return ok(`answered after ${seconds} s`);
}
