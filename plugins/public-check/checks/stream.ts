import { failed, type Finding, ok, warning } from '#core/gateway/diagnosis/finding.ts';
import { describeUnexpectedResponse, type PublicResponse, type PublicCaller } from '../caller.ts';
import { publicPaths, testStream } from '../paths.ts';

const burstGapMs = testStream.interval * 0.4; // events further apart arrived in different bursts
const bufferingAdvice =
  'Turn off response buffering in the proxy (nginx: proxy_buffering off). See docs/proxies.md for complete configurations.';

export async function checkStream(caller: PublicCaller, signal: AbortSignal): Promise<Finding> {
  const response = await caller.call(publicPaths.stream, { signal });
  return response.status === 200 ? describeChunks(response) : describeUnexpectedResponse(response, bufferingAdvice);
}

export function describeChunks({ chunks, text, isComplete: isWhole }: PublicResponse): Finding {
  const events = splitLines(chunks).flatMap(({ receivedAt, line }) => {
    const sentMs = /^data: \{"ms":(\d+)\}\r?$/.exec(line)?.[1];
    return sentMs === undefined ? [] : [{ receivedAt, sent: Number(sentMs) }];
  });
  if (!isWhole || !text.includes('[DONE]')) {
    const advice = 'The proxy cuts streams off: raise its response timeout, or upgrade it.';
    return failed(`ends after ${events.length} of ${testStream.events} events`, advice);
  }
  if (events.length === 0)
    return failed('contains none of the events', 'The proxy changes the body: disable response rewriting there.');
  const delays = events.map(({ receivedAt, sent }) => receivedAt - sent);
  const maxDelayMs = Math.max(...delays) - Math.min(...delays);
  const burstCount = events.filter(
    ({ receivedAt }, index) => index === 0 || receivedAt - (events[index - 1]?.receivedAt ?? 0) > burstGapMs,
  ).length;
  const arrival = `${events.length} events in ${burstCount} bursts, delayed by up to ${Math.round(maxDelayMs)} ms`;
  if (burstCount <= 3) return failed(`is buffered: ${arrival}`, bufferingAdvice);
  if (burstCount >= testStream.events * 0.75) return ok(arrival);
  const advice =
    'The proxy or the network batches events. HAProxy needs `option http-no-delay`; try again if the connection was busy.';
  return warning(arrival, advice);
}

/** A proxy may split an event anywhere, so a line counts as received when its newline arrives. */
function splitLines(chunks: PublicResponse['chunks']): { readonly receivedAt: number; readonly line: string }[] {
  let partialLine = '';
  return chunks.flatMap(({ receivedAt, text }) => {
    const lines = (partialLine + text).split('\n');
    partialLine = lines.pop() ?? '';
    return lines.map((line) => ({ receivedAt, line }));
  });
}
