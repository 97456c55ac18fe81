import { parseExactInputsInSteps, mayContainLongNumbers } from '#core/gateway/model-call/exact-json.ts';
import type { BodyOutline, BodySource } from '#core/gateway/pipeline/exchange.ts';
import { bounds } from '#core/platform/bounds.ts';
import type { JsonObject } from '#core/platform/json.ts';
import { sumSizes } from '#core/platform/memory/collected-bytes.ts';
import { runInTurns, yieldIfLong } from '#core/platform/timing/turn.ts';
import { parseBody } from '../wire/members.ts';

/**
 * The body of a client's request. Only the outline of a long body is parsed at first, which is enough to decide whether its bytes can be
 * passed through. The full text is read when needed.
 */
export class RequestContent {
  /** The body; if it is long, an outline with the middle of long texts cut out, see core/platform/json-outline. */
  readonly outline: JsonObject;
  /** Undefined if `outline` is the whole body. */
  readonly bodyOutline: BodyOutline | undefined;
  #bytes: Buffer | undefined;
  #text: string | undefined;
  #body: JsonObject | undefined;
  #exactBody: JsonObject | undefined; // with the numbers in call inputs exactly as written

  private constructor(outline: JsonObject, bodyOutline: BodyOutline | undefined) {
    this.outline = outline;
    this.bodyOutline = bodyOutline;
  }

  static fromOutline(bodyOutline: BodyOutline): RequestContent {
    return new RequestContent(bodyOutline.body, bodyOutline);
  }

  static fromText(text: string, body: JsonObject, bytes: Buffer = Buffer.from(text)): RequestContent {
    const content = new RequestContent(body, undefined);
    content.#bytes = bytes;
    content.#text = text;
    content.#body = body;
    return content;
  }

  /** True if each step of reading the body must have its own turn of the event loop. */
  get isLong(): boolean {
    return (
      (this.bodyOutline === undefined ? this.bytes.length : sumSizes(this.bodyOutline.pieces)) > bounds.stepwiseBody
    );
  }

  /** The bytes to send upstream. A long body is in pieces, as it was received. */
  get upstreamBytes(): Buffer | readonly Buffer[] {
    return this.#bytes ?? this.bodyOutline?.pieces ?? [];
  }

  get bytes(): Buffer {
    return (this.#bytes ??= Buffer.concat(this.bodyOutline?.pieces ?? []));
  }

  get text(): string {
    return (this.#text ??= this.bytes.toString());
  }

  get body(): JsonObject {
    return (this.#body ??= JSON.parse(this.text) as JsonObject);
  }

  get exactBody(): JsonObject {
    this.#exactBody ??= mayContainLongNumbers(this.text) ? (parseBody(this.text) ?? this.body) : this.body;
    return this.#exactBody;
  }

  /**
   * Reads the whole body in advance. A long body is read in separate turns of the event loop, which the getters cannot do.
   *
   * @throws GatewayError `unavailable` if memory is low
   */
  async load(source: BodySource): Promise<void> {
    await this.loadBody(source);
    if (!this.isLong || this.#exactBody !== undefined) return;
    await yieldIfLong(this.text.length);
    if (mayContainLongNumbers(this.text))
      this.#exactBody = (await runInTurns(parseExactInputsInSteps(this.text))) as JsonObject;
  }

  /** Reads the body in advance, except for `exactBody`. */
  async loadBody(source: BodySource): Promise<void> {
    this.#body ??= await source.json();
    this.#text ??= await source.text();
  }
}
