import { failed, type Finding, ok } from '#core/gateway/diagnosis/finding.ts';
import { describeUnexpected, type PublicCaller } from '../caller.ts';
import { publicPaths } from '../paths.ts';

const longer =
  'Raise the timeout of the proxy for a response above `deadline` of the stage upstream (180 s): proxy_read_timeout in nginx, timeout server in HAProxy, timeout in a route of Envoy.';

/** Checks that the gateway's keep-alives keep a silent stream open. */
export async function checkSilence(caller: PublicCaller, seconds: number, signal: AbortSignal): Promise<Finding> {
  const answer = await caller.call(publicPaths.silence, { query: { seconds }, signal });
  if (answer.status !== 200) return describeUnexpected(answer, longer);
  const pings = answer.text.match(/^: keep-alive$/gm)?.length ?? 0;
  if (!answer.isWhole || !answer.text.includes('[DONE]'))
    return failed(`is cut off after ${answer.seconds.toFixed(1)} s, with ${pings} keep-alives`, longer);
  return ok(`whole after ${seconds} s of silence, with ${pings} keep-alives`);
}

/** Checks that a slow non-streaming call gets its response. */
export async function checkSlowCall(caller: PublicCaller, seconds: number, signal: AbortSignal): Promise<Finding> {
  const answer = await caller.call(publicPaths.wait, { query: { seconds }, signal });
  if (answer.status !== 200 || !answer.isWhole) return describeUnexpected(answer, longer);
  return ok(`answered after ${seconds} s`);
}
