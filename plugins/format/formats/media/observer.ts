import type { GatewayError } from '#core/platform/errors/table.ts';
import type { Usage } from '#core/gateway/facts.ts';
import type { JsonObject, JsonValue } from '#core/platform/json.ts';
import type { StreamEvent } from '#core/gateway/model-call/event-framer.ts';
import { reportedFailure } from '#core/gateway/model-call/reported-failure.ts';
import { readReportedError } from '#core/gateway/model-call/upstream-error.ts';
import { member, scalarText } from '../../wire/members.ts';
import { type ModelEndpoint, modelEndpoint } from '../contract/descriptor.ts';
import type { ReplyObserver } from '../contract/pass-through.ts';
import { responsesUsage } from '../responses/reply/reply-object.ts';

/** Common parts of answers of endpoints for images or audio. */
export interface MediaAnswer {
  /** Types of events that carry a part of the answer. */
  readonly parts: ReadonlySet<string>;
  /** Types of events that end an image, a text or a recording. */
  readonly ends: ReadonlySet<string>;
  /** True for a whole answer that is not empty. */
  hasContent(body: JsonObject): boolean;
  /** Number of images in a whole answer; in a stream each end event is one image. Missing if answers are not images. */
  countImages?(body: JsonObject): number;
}

/** Observes an answer with images, audio or their text. Its usage has the shape of the Responses format. */
export class MediaObserver implements ReplyObserver {
  hasContent = false;
  isComplete = false;
  failure: GatewayError | undefined;
  usage: Usage | undefined;
  readonly #answer: MediaAnswer;
  #awaited: number;
  #images = 0;

  /** @param requested number of images that the client requested */
  constructor(answer: MediaAnswer, requested = 1) {
    this.#answer = answer;
    this.#awaited = requested;
  }

  event(event: StreamEvent): void {
    const { parts, ends } = this.#answer;
    const { name } = event;
    if (name !== undefined && parts.has(name)) {
      this.hasContent = true;
      return;
    }
    // If events have names, only the end events are parsed: each event holds an image.
    const body = event.parse();
    const type = scalarText(name ?? member(body, 'type'));
    const error = readReportedError(body);
    if (error !== undefined) this.failure = reportedFailure(error);
    this.hasContent ||= parts.has(type) || ends.has(type);
    if (!ends.has(type)) return;
    this.isComplete = true;
    this.#awaited--;
    this.#count(1, member(body, 'usage'));
  }

  whole(body: JsonObject): void {
    const error = readReportedError(body);
    if (error !== undefined) this.failure = reportedFailure(error);
    this.#count(this.#answer.countImages?.(body) ?? 0, body['usage']);
    this.hasContent = this.#answer.hasContent(body);
    this.isComplete = true;
  }

  #count(images: number, usage: JsonValue | undefined): void {
    const tokens = responsesUsage(usage);
    this.#images += images;
    this.usage = this.#answer.countImages === undefined ? tokens : { ...tokens, images: this.#images };
  }

  get isFinished(): boolean {
    return this.isComplete && this.#awaited <= 0;
  }

  /** Never true: more images may follow. */
  get isOver(): boolean {
    return false;
  }
}

/**
 * Defines an endpoint on one of OpenAI's media paths.
 *
 * @param isMultipart true if the body may be a form with files
 */
export function mediaEndpoint(
  name: string,
  path: string,
  required: readonly string[],
  isMultipart: boolean,
): ModelEndpoint {
  return modelEndpoint(name, `/v1${path}`, required, { upstreamPath: path, isMultipart });
}
