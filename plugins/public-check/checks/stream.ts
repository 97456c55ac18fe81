import { failed, type Finding, ok, warning } from '#core/gateway/diagnosis/finding.ts';
import { describeUnexpected, type PublicAnswer, type PublicCaller } from '../caller.ts';
import { pace, publicPaths } from '../paths.ts';

const pieceGapMs = pace.interval * 0.4;
const unbuffered =
  'Turn off the buffering of responses in the proxy (nginx: proxy_buffering off). docs/proxies.md has whole files.';

/** Checks that the events of a stream arrive as they are sent. */
export async function checkStream(caller: PublicCaller, signal: AbortSignal): Promise<Finding> {
  const answer = await caller.call(publicPaths.stream, { signal });
  return answer.status === 200 ? describePieces(answer) : describeUnexpected(answer, unbuffered);
}

/** @param answer of `stream` */
export function describePieces({ pieces, text, isWhole }: PublicAnswer): Finding {
  const events = linesOf(pieces).flatMap(({ at, line }) => {
    const sent = /^data: \{"ms":(\d+)\}\r?$/.exec(line)?.[1];
    return sent === undefined ? [] : [{ at, sent: Number(sent) }];
  });
  if (!isWhole || !text.includes('[DONE]')) {
    const advice = 'The proxy cuts streams off: raise its timeout of a response, or install a newer version of it.';
    return failed(`ends after ${events.length} of ${pace.events} events`, advice);
  }
  if (events.length === 0)
    return failed('has none of the events', 'The proxy changes the body: turn off whatever rewrites responses there.');
  const delays = events.map(({ at, sent }) => at - sent);
  const held = Math.max(...delays) - Math.min(...delays);
  const count = events.filter(({ at }, index) => index === 0 || at - (events[index - 1]?.at ?? 0) > pieceGapMs).length;
  const arrival = `${events.length} events in ${count} pieces, held back for up to ${Math.round(held)} ms`;
  if (count <= 3) return failed(`is buffered: ${arrival}`, unbuffered);
  if (count >= pace.events * 0.75) return ok(arrival);
  const advice =
    'The proxy or the network gathers events. HAProxy needs `option http-no-delay`; try again if the connection was busy.';
  return warning(arrival, advice);
}

/** Splits pieces into lines. A proxy may split an event anywhere, so a line has arrived once its end has. */
function linesOf(pieces: PublicAnswer['pieces']): { readonly at: number; readonly line: string }[] {
  let rest = '';
  return pieces.flatMap(({ at, text }) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    return lines.map((line) => ({ at, line }));
  });
}
