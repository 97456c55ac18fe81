import type { Usage } from '#core/gateway/facts.ts';
import { isJsonObject, type JsonObject, parseObject } from '#core/platform/json.ts';
import { writeUsage } from '../formats/responses/reply/reply-object.ts';
import { toByteString, type FramedEvent, fromByteString } from './event-frames.ts';
import { findMembers } from './member-spans.ts';

type Progress = 'begun' | 'running' | 'ended' | 'failed' | 'error';

const progressByEvent: Readonly<Record<string, Progress>> = {
  'response.created': 'begun',
  'response.completed': 'ended',
  'response.incomplete': 'ended',
  'response.failed': 'failed',
  error: 'error',
};

/** Reads the id and the output items, as bytes, from a response's events. */
export class TurnOutput {
  #createdData: string | undefined;
  #lastData: string | undefined;
  #id: string | undefined;
  readonly #items: Buffer[] = [];
  #endData: string | undefined;

  get id(): string | undefined {
    return this.#id;
  }

  read({ name, data }: FramedEvent): Progress {
    this.#lastData = data;
    if (name === 'response.output_item.done') this.#addItem(data);
    const progress = progressByEvent[name] ?? 'running';
    if (progress === 'begun') this.#createdData = data;
    if (progress === 'begun' || progress === 'ended') this.#id ??= readId(data);
    if (progress === 'ended') this.#endData = data;
    return progress;
  }

  listItems(): readonly Buffer[] {
    if (this.#items.length > 0 || this.#endData === undefined) return this.#items;
    // The server only sent the final event.
    const response = readResponse(this.#endData);
    const output = Array.isArray(response['output']) ? response['output'] : [];
    return output.map((item) => Buffer.from(JSON.stringify(item)));
  }

  /** Writes the final event of an interrupted response with the items finished so far; undefined if the response has not begun. */
  writeInterruption(usage: Usage | undefined): FramedEvent | undefined {
    if (this.#createdData === undefined) return undefined;
    const response = {
      ...readResponse(this.#createdData),
      status: 'incomplete',
      incomplete_details: { reason: 'interrupted' },
      end_turn: false,
      output: this.#items.map((item) => JSON.parse(item.toString()) as JsonObject),
      usage: writeUsage(usage ?? {}),
    };
    const sequence = readSequence(this.#lastData ?? this.#createdData) + 1;
    return writeEvent('response.incomplete', sequence, response);
  }

  #addItem(data: string): void {
    const span = findMembers(data)?.findLast(({ name }) => name === 'item');
    if (span !== undefined) this.#items.push(Buffer.from(data.slice(span.valueStart, span.end), 'latin1'));
  }
}

function readResponse(data: string): JsonObject {
  const response = parseObject(fromByteString(data))?.['response'];
  return isJsonObject(response) ? response : {};
}

const leadingIdPattern = /"response" ?: ?\{ ?"id" ?: ?"([\w-]+)"/;
const idSearchLength = 200;

function readId(data: string): string | undefined {
  const [, idAtStart] = leadingIdPattern.exec(data.slice(0, idSearchLength)) ?? [];
  if (idAtStart !== undefined) return idAtStart;
  const { id } = readResponse(data);
  return typeof id === 'string' && id !== '' ? id : undefined;
}

function readSequence(data: string): number {
  const sequence = parseObject(fromByteString(data))?.['sequence_number'];
  return typeof sequence === 'number' ? sequence : 0;
}

export function convertResponseToEvents(response: JsonObject): readonly FramedEvent[] {
  const startedResponse = { ...response, status: 'in_progress', completed_at: null, output: [], usage: null };
  const { status } = response;
  const endStatus = status === 'incomplete' || status === 'failed' ? status : 'completed';
  return [writeEvent('response.created', 0, startedResponse), writeEvent(`response.${endStatus}`, 1, response)];
}

function writeEvent(name: string, sequence: number, response: JsonObject): FramedEvent {
  return { name, data: toByteString(JSON.stringify({ type: name, sequence_number: sequence, response })) };
}
