import type { Usage } from '#core/gateway/facts.ts';
import type { StreamEvent } from '#core/gateway/model-call/event-framer.ts';
import { createReportedFailure } from '#core/gateway/model-call/reported-failure.ts';
import { readReportedError } from '#core/gateway/model-call/upstream-error.ts';
import type { GatewayError } from '#core/platform/errors/table.ts';
import type { JsonObject, JsonValue } from '#core/platform/json.ts';
import { readMember, scalarToText } from '../../wire/members.ts';
import { type ModelEndpoint, defineModelEndpoint } from '../contract/descriptor.ts';
import type { ReplyObserver } from '../contract/pass-through.ts';
import { readUsage } from '../responses/reply/reply-object.ts';

/** How to read the replies of an image or audio endpoint. */
export interface MediaReplyShape {
  /** Types of events that carry a part of the content. */
  readonly partEvents: ReadonlySet<string>;
  /** Types of events that end an image, a text or a recording. */
  readonly endEvents: ReadonlySet<string>;
  hasContent(body: JsonObject): boolean;
  /** Missing if replies have no images. In a stream, each end event counts as one image. */
  countImages?(body: JsonObject): number;
}

/** Observes a reply with images, audio or a transcript. Usage in these replies has the form that the Responses format uses. */
export class MediaObserver implements ReplyObserver {
  hasContent = false;
  isComplete = false;
  failure: GatewayError | undefined;
  usage: Usage | undefined;
  readonly #shape: MediaReplyShape;
  #remainingCount: number;
  #imageCount = 0;

  constructor(shape: MediaReplyShape, requestedCount = 1) {
    this.#shape = shape;
    this.#remainingCount = requestedCount;
  }

  observeEvent(event: StreamEvent): void {
    const { partEvents, endEvents } = this.#shape;
    const { name } = event;
    if (name !== undefined && partEvents.has(name)) {
      this.hasContent = true;
      return;
    }
    // Events are large, because each may contain an image. If they have names, only the end events are parsed.
    const body = event.parse();
    const type = scalarToText(name ?? readMember(body, 'type'));
    const error = readReportedError(body);
    if (error !== undefined) this.failure = createReportedFailure(error);
    this.hasContent ||= partEvents.has(type) || endEvents.has(type);
    if (!endEvents.has(type)) return;
    this.isComplete = true;
    this.#remainingCount--;
    this.#addUsage(1, readMember(body, 'usage'));
  }

  observeReply(body: JsonObject): void {
    const error = readReportedError(body);
    if (error !== undefined) this.failure = createReportedFailure(error);
    this.#addUsage(this.#shape.countImages?.(body) ?? 0, body['usage']);
    this.hasContent = this.#shape.hasContent(body);
    this.isComplete = true;
  }

  #addUsage(imageCount: number, usage: JsonValue | undefined): void {
    const tokens = readUsage(usage);
    this.#imageCount += imageCount;
    this.usage = this.#shape.countImages === undefined ? tokens : { ...tokens, images: this.#imageCount };
  }

  get isFinished(): boolean {
    return this.isComplete && this.#remainingCount <= 0;
  }

  /** More images may follow. */
  get isOver(): boolean {
    return false;
  }
}

export function defineMediaEndpoint(
  name: string,
  path: string,
  required: readonly string[],
  options?: Pick<ModelEndpoint, 'isMultipart'>,
): ModelEndpoint {
  return defineModelEndpoint(name, `/v1${path}`, required, { upstreamPath: path, ...options });
}
