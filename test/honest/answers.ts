import type { AnswerDigests, ReplyReader } from '#core/gateway/model-call/adapter.ts';
import { GatewayError } from '#core/platform/errors/table.ts';
import { type Replay, replay } from '../plugins/format/replays/gateway.ts';
import type { Recording } from '../plugins/format/replays/recordings.ts';
import type { TextFormat } from '../support/formats.ts';
import { recompute } from './recompute.ts';

/** Ways of an answer: as the vendor has sent it, or converted to what the client has asked for. */
export const ways = ['streamed', 'whole', 'gathered', 'spread'] as const;
export type Way = (typeof ways)[number];

export interface Answer {
  readonly digests: AnswerDigests;
  /** What a client computes from what it got; undefined for an answer that could not be served. */
  readonly recomputed: string | undefined;
  readonly isComplete: boolean;
  readonly model: string | undefined;
  /** What the client got. */
  readonly body: string;
}

export function isWholeAtVendor(way: Way): boolean {
  return way === 'whole' || way === 'spread';
}

/** A client's request, whose answer can be played any number of times. */
export function ask(
  client: TextFormat,
  recording: Recording,
  way: Way,
  request?: Parameters<typeof replay>[3],
): Promise<Replay> {
  return replay(client, recording, way === 'streamed' || way === 'spread', request);
}

/** Plays an answer to a client. @param pieces of it; one for a whole answer. Undefined where the client gets an error alone */
export async function play(
  client: TextFormat,
  recording: Recording,
  way: Way,
  pieces: readonly Buffer[],
  request?: Parameters<typeof replay>[3],
): Promise<Answer | undefined> {
  return answer(await ask(client, recording, way, request), way, pieces);
}

/** The same for a request that was asked before. */
export function answer({ call, route }: Replay, way: Way, pieces: readonly Buffer[]): Answer | undefined {
  const reader = call.read(route);
  const body = bodyOf(reader, way, pieces);
  if (body === undefined) return undefined;
  const { digests = { received: undefined, sent: undefined } } = reader;
  const recomputed = recompute(body) ?? undefined;
  return {
    digests,
    recomputed,
    isComplete: reader.isComplete || way !== 'streamed',
    model: reader.answeredModel,
    body,
  };
}

function bodyOf(reader: ReplyReader, way: Way, pieces: readonly Buffer[]): string | undefined {
  try {
    if (way === 'streamed') return streamed(reader, pieces);
    const all = Buffer.concat(pieces);
    if (way === 'whole') return reader.whole(all, 'application/json').body.toString();
    return reader.convert?.(all, way === 'gathered').body.toString();
  } catch (error) {
    if (error instanceof GatewayError) return undefined;
    throw error;
  }
}

function streamed(reader: ReplyReader, pieces: readonly Buffer[]): string {
  const got: Buffer[] = [];
  for (const piece of pieces) {
    got.push(reader.push(piece));
    if (reader.failure !== undefined) break;
  }
  if (reader.failure === undefined) got.push(reader.end());
  const cut = reader.isComplete ? undefined : new GatewayError('upstream_failed', 'the answer broke off');
  const error = reader.failure ?? cut;
  return Buffer.concat(got).toString() + (error === undefined ? '' : reader.renderFailure(error));
}

export type { Replay };
