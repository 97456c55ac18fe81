import { renderStreamError } from '#core/gateway/pipeline/render-error.ts';
import type { GatewayError } from '#core/platform/errors/table.ts';
import type { Usage } from '#core/gateway/facts.ts';
import type { JsonObject } from '#core/platform/json.ts';
import type { StreamEvent } from '#core/gateway/model-call/event-framer.ts';
import { readReportedError, reportedFailure } from '#core/gateway/model-call/upstream-error.ts';
import { member } from '../../wire/members.ts';
import type { ClientFormat } from '../contract/descriptor.ts';
import { boolean, integer, parameters, text } from '../contract/parameters.ts';
import type { ReplyObserver } from '../contract/pass-through.ts';
import { responsesUsage } from '../responses/reply/observer.ts';
import type * as openai from 'openai/resources/images';
import type { Loose } from '../../wire/loose.ts';

/** Source: OpenAI API reference, "Create image". */
const imagesParameters = parameters({ prompt: text, stream: boolean, n: integer(1, 10), size: text });

/** The Images API of OpenAI. */
export const images: ClientFormat = {
  name: 'images',
  dialect: 'openai',
  reasoningStyles: [],
  path: () => '/images/generations',
  client: {
    endpoints: [
      {
        name: 'images',
        method: 'POST',
        path: '/v1/images/generations',
        isMetered: true,
        isAliased: true,
        purpose: 'answer',
        required: ['prompt'],
      },
    ],
    parameters: imagesParameters,
    observe: (id, { n }) => new ImagesObserver(id, typeof n === 'number' ? n : 1),
  },
};

/** Observes an Images reply. Its usage has the shape of the Responses format. Source: OpenAI API reference, "Images". */
class ImagesObserver implements ReplyObserver {
  hasContent = false;
  isComplete = false;
  failure: GatewayError | undefined;
  usage: Usage | undefined;
  readonly #id: string;
  #awaited: number;

  /** @param requested number of images that the client asks for */
  constructor(id: string, requested = 1) {
    this.#id = id;
    this.#awaited = requested;
  }

  event(event: StreamEvent): void {
    const { name } = event;
    if (name === 'image_generation.partial_image') {
      this.hasContent = true;
      return;
    }
    // Parsed only at the end: each event holds an image.
    const body = event.parse();
    const type = name ?? member<ImagesEvent>(body, 'type');
    const error = readReportedError(body);
    if (error !== undefined) this.failure = reportedFailure(error);
    if (type !== 'image_generation.completed') return;
    this.hasContent = true;
    this.isComplete = true;
    this.#awaited--;
    this.usage = responsesUsage(member<ImagesEvent>(body, 'usage'));
  }

  whole(body: JsonObject): void {
    const error = readReportedError(body);
    if (error !== undefined) this.failure = reportedFailure(error);
    const { usage, data }: ImagesReply = body;
    this.usage = responsesUsage(usage);
    this.hasContent = Array.isArray(data) && data.length > 0;
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

/** A whole reply. */
type ImagesReply = Loose<openai.ImagesResponse>;
type ImagesEvent = Loose<openai.ImageGenStreamEvent>;
