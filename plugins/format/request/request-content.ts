import { bounds } from '#core/platform/bounds.ts';
import type { JsonObject } from '#core/platform/json.ts';
import { exactInputSteps, mayHoldLongNumbers } from '#core/gateway/model-call/exact-json.ts';
import type { BodyOutline, BodySource } from '#core/gateway/pipeline/exchange.ts';
import { sizeOf } from '#core/platform/memory/collected-bytes.ts';
import { runInTurns, turnFor } from '#core/platform/timing/turn.ts';
import { parseBody } from '../wire/members.ts';

/**
 * The body of a client's request. Of a long one, only the outline has been parsed: that decides whether a route gets its bytes, and
 * the texts in it are read on demand.
 */
export class RequestContent {
  /** The body, or the outline of a long one: without the middle of its long texts, see core/platform/json-outline. */
  readonly outline: JsonObject;
  /** Undefined when `outline` is the whole body. */
  readonly cut: BodyOutline | undefined;
  #bytes: Buffer | undefined;
  #text: string | undefined;
  #body: JsonObject | undefined;
  /** The body with the inputs of calls exactly as they were written. */
  #exact: JsonObject | undefined;

  private constructor(outline: JsonObject, cut: BodyOutline | undefined) {
    this.outline = outline;
    this.cut = cut;
  }

  static outlined(cut: BodyOutline): RequestContent {
    return new RequestContent(cut.body, cut);
  }

  /** @param body the value of the text */
  static whole(text: string, body: JsonObject, bytes: Buffer = Buffer.from(text)): RequestContent {
    const content = new RequestContent(body, undefined);
    content.#bytes = bytes;
    content.#text = text;
    content.#body = body;
    return content;
  }

  /** True when each step of reading it has a turn of the event loop. */
  get isLong(): boolean {
    return (this.cut === undefined ? this.bytes.length : sizeOf(this.cut.pieces)) > bounds.stepwiseBody;
  }

  /** The bytes as an upstream gets them: those of a long body as they have come. */
  get sent(): Buffer | readonly Buffer[] {
    return this.#bytes ?? this.cut?.pieces ?? [];
  }

  get bytes(): Buffer {
    return (this.#bytes ??= Buffer.concat(this.cut?.pieces ?? []));
  }

  get text(): string {
    return (this.#text ??= this.bytes.toString());
  }

  get body(): JsonObject {
    return (this.#body ??= JSON.parse(this.text) as JsonObject);
  }

  get exact(): JsonObject {
    this.#exact ??= mayHoldLongNumbers(this.text) ? (parseBody(this.text) ?? this.body) : this.body;
    return this.#exact;
  }

  /**
   * Reads the body whose texts are needed now, a long one in turns and not when it is first asked for.
   *
   * @throws GatewayError `unavailable` when there is too little memory
   */
  async load(source: BodySource): Promise<void> {
    await this.loadBody(source);
    if (!this.isLong || this.#exact !== undefined) return;
    await turnFor(this.text.length);
    if (mayHoldLongNumbers(this.text)) this.#exact = (await runInTurns(exactInputSteps(this.text))) as JsonObject;
  }

  /** Reads the body only, if long numbers need not stay as written. */
  async loadBody(source: BodySource): Promise<void> {
    this.#body ??= await source.json();
    this.#text ??= await source.text();
  }
}
