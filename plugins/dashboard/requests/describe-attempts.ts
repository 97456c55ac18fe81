import type { RequestRecord } from '#core/gateway/records/columns.ts';
import { describeFaultText } from '#core/web/pages/fault-text.ts';
import { axisBar, type LatencyBar } from '#core/web/pages/geometry.ts';
import type { Localizer } from '#core/web/pages/page.ts';
import type { RouteNames } from '../route-names.ts';
import { readAttempts, type CompletedAttempt } from './completed-attempt.ts';
import { describeConsequence, describeFault } from './describe-fault.ts';

interface AttemptView {
  readonly kind: 'ok' | 'bad' | 'info';
  readonly name: string; // "1 · openai/gpt-6-sol", or "Attempt 1" if routes are hidden
  readonly span: string; // "412 ms – 4.28 s"
  readonly text: string; // the result, and what the gateway did next
  readonly bar: LatencyBar; // on a time axis that all attempts of the request share
}

export function describeAttempts(record: RequestRecord, reader: Localizer, routes: RouteNames): AttemptView[] {
  const attempts = readAttempts(record);
  const total = Math.max(record.duration_ms ?? 0, ...attempts.map(({ end }) => end));
  return attempts.map((attempt) => {
    const { position, route, outcome, start, end, error } = attempt;
    const label = routes.label(route, record.model);
    const result =
      outcome === 'served'
        ? describeSuccess(attempt, record, reader)
        : [
            describeFault(attempt, attempts, record, reader.t),
            describeConsequence(attempt, attempts, record, reader.t),
          ];
    const upstreamText = routes.areUpstreamMessagesShown && error !== '' ? describeFaultText(error, reader.t) : '';
    // The first sentence may already contain the upstream's message.
    const quotedMessage =
      upstreamText === '' || result[0]?.startsWith(upstreamText) === true ? '' : `“${upstreamText}”`;
    return {
      kind: determineKind(attempt),
      name: label === '' ? reader.t('requests.attempt', { number: position }) : `${position} · ${label}`,
      span: reader.format.span(start, end),
      text: [...result, quotedMessage].filter((sentence) => sentence !== '').join(' '),
      bar: describeBar(attempt, total),
    };
  });
}

function determineKind({ outcome }: CompletedAttempt): AttemptView['kind'] {
  if (outcome === 'served') return 'ok';
  return outcome === 'aborted' ? 'info' : 'bad';
}

function describeBar(attempt: CompletedAttempt, total: number): LatencyBar {
  const { start, first, end, outcome } = attempt;
  // The bar is pale until the first token, or until the end of an aborted attempt.
  const isFailed = outcome === 'failed';
  if (outcome === 'aborted' && first === undefined)
    return { wait: axisBar(start, end, total), run: { x: 0, width: 0 }, isFailed };
  const runStart = isFailed ? start : (first ?? start);
  return {
    wait: runStart === start ? undefined : axisBar(start, runStart, total),
    run: axisBar(runStart, end, total),
    isFailed,
  };
}

function describeSuccess(
  { status, first }: CompletedAttempt,
  { input_tokens: input, output_tokens: output }: RequestRecord,
  { t, format }: Localizer,
): string[] {
  const statusText = status === undefined ? t('requests.status.answered') : String(status);
  const statusSentence =
    first === undefined
      ? t('requests.attempt.plain', { status: statusText })
      : t('requests.attempt.first', { status: statusText, time: format.duration(first).text });
  if (input === null || output === null) return [statusSentence];
  return [statusSentence, t('requests.attempt.tokens', { input: format.number(input), output: format.number(output) })];
}
