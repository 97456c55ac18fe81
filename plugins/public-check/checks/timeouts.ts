import { failed, type Finding, ok } from '#core/gateway/diagnosis/finding.ts';
import { describeUnexpectedResponse, type PublicCaller } from '../caller.ts';
import { publicPaths } from '../paths.ts';

const timeoutAdvice =
  "Raise the proxy's response timeout above `deadline` of the `upstream` stage (180 s): proxy_read_timeout in nginx, timeout server in HAProxy, timeout in a route of Envoy.";

export async function checkIdleStream(caller: PublicCaller, seconds: number, signal: AbortSignal): Promise<Finding> {
  const response = await caller.call(publicPaths.silence, { query: { seconds }, signal });
  if (response.status !== 200) return describeUnexpectedResponse(response, timeoutAdvice);
  const keepAliveCount = response.text.match(/^: keep-alive$/gm)?.length ?? 0;
  if (!response.isComplete || !response.text.includes('[DONE]'))
    return failed(
      `is cut off after ${response.seconds.toFixed(1)} s, with ${keepAliveCount} keep-alives`,
      timeoutAdvice,
    );
  return ok(`complete after ${seconds} s without events, with ${keepAliveCount} keep-alives`);
}

export async function checkSlowCall(caller: PublicCaller, seconds: number, signal: AbortSignal): Promise<Finding> {
  const response = await caller.call(publicPaths.wait, { query: { seconds }, signal });
  if (response.status !== 200) return describeUnexpectedResponse(response, timeoutAdvice);
  if (!response.isComplete) return failed(`is cut off after ${response.seconds.toFixed(1)} s`, timeoutAdvice);
  return ok(`answered after ${seconds} s`);
}
