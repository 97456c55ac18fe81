import { isJsonObject, type JsonObject, parseObject } from '#core/platform/json.ts';
import { writeUsage } from '../formats/responses/reply/reply-object.ts';
import type { Usage } from '#core/gateway/facts.ts';
import { bytesOf, type FramedEvent, textOfBytes } from './event-frames.ts';
import { memberSpans } from './member-spans.ts';

/** Effect of an event on its response. */
type Progress = 'begun' | 'running' | 'ended' | 'failed' | 'error';

const stages: Readonly<Record<string, Progress>> = {
  'response.created': 'begun',
  'response.completed': 'ended',
  'response.incomplete': 'ended',
  'response.failed': 'failed',
  error: 'error',
};

/** Reads the parts of one response that the socket needs: its id and its output items, as bytes. */
export class TurnOutput {
  #created: string | undefined;
  #last: string | undefined;
  #id: string | undefined;
  readonly #items: Buffer[] = [];
  #ending: string | undefined;

  /** Undefined until the response has begun. */
  get id(): string | undefined {
    return this.#id;
  }

  read({ name, data }: FramedEvent): Progress {
    this.#last = data;
    if (name === 'response.output_item.done') this.#addItem(data);
    const stage = stages[name] ?? 'running';
    if (stage === 'begun') this.#created = data;
    if (stage === 'begun' || stage === 'ended') this.#id ??= idIn(data);
    if (stage === 'ended') this.#ending = data;
    return stage;
  }

  /** The finished items of the output. */
  items(): readonly Buffer[] {
    if (this.#items.length > 0 || this.#ending === undefined) return this.#items;
    // The server sent only the final event.
    const response = responseIn(this.#ending);
    const output = Array.isArray(response['output']) ? response['output'] : [];
    return output.map((item) => Buffer.from(JSON.stringify(item)));
  }

  /** The final event of a response that the client interrupted; finished items are kept. Undefined if the response has not begun. */
  interrupted(usage: Usage | undefined): FramedEvent | undefined {
    if (this.#created === undefined) return undefined;
    const response = {
      ...responseIn(this.#created),
      status: 'incomplete',
      incomplete_details: { reason: 'interrupted' },
      end_turn: false,
      output: this.#items.map((item) => JSON.parse(item.toString()) as JsonObject),
      usage: writeUsage(usage ?? {}),
    };
    const sequence = sequenceIn(this.#last ?? this.#created) + 1;
    return writeEvent('response.incomplete', sequence, response);
  }

  #addItem(data: string): void {
    const bytes = Buffer.from(data, 'latin1');
    const span = memberSpans(bytes)?.findLast(({ name }) => name === 'item');
    if (span !== undefined) this.#items.push(bytes.subarray(span.valueBegin, span.end));
  }
}

function responseIn(data: string): JsonObject {
  const response = parseObject(textOfBytes(data))?.['response'];
  return isJsonObject(response) ? response : {};
}

/** Matches the id in its usual place. */
const idAtBegin = /"response" ?: ?\{ ?"id" ?: ?"([\w-]+)"/;
const beginning = 200;

function idIn(data: string): string | undefined {
  const [, found] = idAtBegin.exec(data.slice(0, beginning)) ?? [];
  if (found !== undefined) return found;
  const { id } = responseIn(data);
  return typeof id === 'string' && id !== '' ? id : undefined;
}

function sequenceIn(data: string): number {
  const sequence = parseObject(textOfBytes(data))?.['sequence_number'];
  return typeof sequence === 'number' ? sequence : 0;
}

/** The events of an answer that was not streamed. */
export function eventsOfWhole(response: JsonObject): readonly FramedEvent[] {
  const begun = { ...response, status: 'in_progress', completed_at: null, output: [], usage: null };
  const { status } = response;
  const ending = status === 'incomplete' || status === 'failed' ? status : 'completed';
  return [writeEvent('response.created', 0, begun), writeEvent(`response.${ending}`, 1, response)];
}

function writeEvent(name: string, sequence: number, response: JsonObject): FramedEvent {
  return { name, data: bytesOf(JSON.stringify({ type: name, sequence_number: sequence, response })) };
}
