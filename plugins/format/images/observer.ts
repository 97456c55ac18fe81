import type { GatewayError } from '#core/errors/table.ts';
import type { Usage } from '#core/facts.ts';
import type { JsonObject } from '#core/json.ts';
import type { StreamEvent } from '#core/model-call/event-framer.ts';
import { renderStreamError } from '#core/errors/render.ts';
import { readReportedError, reportedFailure } from '#core/model-call/upstream-error.ts';
import { member } from '../request/members.ts';
import type { ReplyObserver } from '../reply-observer.ts';
import { responsesUsage } from '../responses/observer.ts';

/** Observes an Images reply. Its usage has the shape of the Responses format. Source: OpenAI API reference, "Images". */
export class ImagesObserver implements ReplyObserver {
  hasContent = false;
  isComplete = false;
  failure: GatewayError | undefined;
  usage: Usage | undefined;
  readonly #id: string;
  #awaited: number;

  /** @param images that the client has asked for */
  constructor(id: string, images = 1) {
    this.#id = id;
    this.#awaited = images;
  }

  event(event: StreamEvent): void {
    const { name } = event;
    if (name === 'image_generation.partial_image') {
      this.hasContent = true;
      return;
    }
    // Parsed only at the end: each event holds an image.
    const body = event.parse();
    const type = name ?? member(body, 'type');
    const error = readReportedError(body);
    if (error !== undefined) this.failure = reportedFailure(error);
    if (type !== 'image_generation.completed') return;
    this.hasContent = true;
    this.isComplete = true;
    this.#awaited--;
    this.usage = responsesUsage(body?.['usage']);
  }

  whole(body: JsonObject): void {
    const error = readReportedError(body);
    if (error !== undefined) this.failure = reportedFailure(error);
    this.usage = responsesUsage(body['usage']);
    this.hasContent = Array.isArray(body['data']) && body['data'].length > 0;
    this.isComplete = true;
  }

  get isFinished(): boolean {
    return this.isComplete && this.#awaited <= 0;
  }

  /** There may be several images. */
  get isOver(): boolean {
    return false;
  }

  renderFailure(error: GatewayError): string {
    return renderStreamError(error, { id: this.#id, format: undefined, dialect: 'openai' });
  }
}
