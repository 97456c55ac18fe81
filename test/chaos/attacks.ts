import { type ChaosFormat, chaosFormats, pathOf } from './answers.ts';
import { type HostileAnswer, hostileAnswers } from './hostile-answers.ts';
import { hostileValues } from './hostile-json.ts';
import { places } from './hostile-requests.ts';

const MiB = 1024 * 1024;
/** Sizes of responses. */
const allSizes = [MiB / 2, 2 * MiB, 8 * MiB, 31 * MiB];
/**
 * Sizes of requests, in turn. Mostly small: what blocks the loop does so at 2 MiB, and 31 MiB of each would take half an hour. There
 * are 17, which shares no factor with the number of values, so that every value comes in every size.
 */
const requestSizes = [0.5, 2, 0.5, 2, 0.5, 8, 0.5, 2, 0.5, 2, 0.5, 31, 0.5, 2, 0.5, 2, 8].map((size) => size * MiB);
const shortSizes = [2 * MiB];

/** A request that is to hold the loop of the gateway for long, or one whose answer is. */
export interface Attack {
  readonly name: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  body(): string;
  /** What the upstream answers; an ordinary answer when left out. */
  answer?(): { readonly type: string; readonly text: string };
}

/** The model on an upstream that speaks this format alone, and the one whose answers are hostile. */
export const modelTo = (format: ChaosFormat) => `to-${format}`;
export const hostileModel = (format: ChaosFormat) => `hostile-${format}`;

/** Every hostile value in every place of every format; the short form has each value once for each format. */
export function hostileRequests(isShort: boolean): Attack[] {
  const values = Object.entries(hostileValues);
  let number = 0;
  return chaosFormats.flatMap((format) =>
    Object.entries(places[format]).flatMap(([place, write], at, { length }) =>
      values.flatMap(([value, make], index): Attack[] => {
        if (isShort && index % length !== at) return [];
        const turn = at + index;
        const size = atTurn(isShort ? shortSizes : requestSizes, number++);
        const upstream = atTurn(chaosFormats, turn + Math.floor(turn / 4));
        const model = modelTo(upstream);
        const isCached = turn % 5 === 0;
        return [
          {
            name: `${format} to ${upstream}${isCached ? ', cached' : ''}: ${value} in ${place}, ${megabytes(size)}`,
            path: turn % 7 === 3 ? countPathOf(format, model) : pathOf({ format, model, isStream: false }),
            headers: isCached ? { 'x-service-cache': '60' } : {},
            body: () => write(model, make(size - 1_000)),
          },
        ];
      }),
    ),
  );
}

/** Every hostile answer in every format, to a client of that format and to one of another. */
export function hostileReplies(isShort: boolean): Attack[] {
  return hostileAnswers.flatMap((answer, at) =>
    chaosFormats.flatMap((upstream, index) => {
      if (isShort && index !== at % chaosFormats.length) return [];
      const size = atTurn(isShort ? shortSizes : allSizes, at + index);
      const other = atTurn(chaosFormats, index + 1 + (at % 3));
      const clients = isShort ? [at % 2 === 0 ? upstream : other] : [upstream, other];
      return clients.map((client) => attackBy(answer, upstream, client, size));
    }),
  );
}

function attackBy(answer: HostileAnswer, upstream: ChaosFormat, client: ChaosFormat, size: number): Attack {
  const asked = { format: client, model: hostileModel(upstream), isStream: answer.isStream };
  return {
    name: `${upstream} upstream to ${client}: ${answer.name}, ${megabytes(size)}`,
    path: pathOf(asked),
    headers: {},
    body: () => bodyOf(asked),
    answer: () => ({
      type: answer.isStream ? 'text/event-stream' : 'application/json',
      text: answer.write(upstream, size - 10_000),
    }),
  };
}

function bodyOf({ format, model, isStream }: { format: ChaosFormat; model: string; isStream: boolean }): string {
  if (format === 'gemini') return JSON.stringify({ contents: [{ role: 'user', parts: [{ text: 'hi' }] }] });
  if (format === 'responses') return JSON.stringify({ model, input: 'hi', stream: isStream });
  return JSON.stringify({ model, messages: [{ role: 'user', content: 'hi' }], max_tokens: 100, stream: isStream });
}

/** Where a format counts tokens; the usual path of a format that cannot. */
function countPathOf(format: ChaosFormat, model: string): string {
  if (format === 'messages') return '/v1/messages/count_tokens';
  if (format === 'gemini') return `/v1beta/models/${model}:countTokens`;
  return pathOf({ format, model, isStream: false });
}

function atTurn<T>(list: readonly T[], index: number): T {
  return list[index % list.length] as T;
}

function megabytes(size: number): string {
  return `${(size / MiB).toFixed(1)} MiB`;
}
