import type { Usage } from '#core/gateway/facts.ts';
import type { StreamEvent } from '#core/gateway/model-call/event-framer.ts';
import { isJsonObject, type JsonValue } from '#core/platform/json.ts';
import { removeEmptyCounts } from '../../../canonical/estimate.ts';
import { tagState } from '../../../canonical/opaque-state.ts';
import { UsageMeter } from '../../../canonical/usage-meter.ts';
import { asObject } from '../../../wire/members.ts';
import type { MessagesBlock, MessagesEvent, MessagesReply } from '../../../wire/messages.ts';
import {
  type AnsweredRequest,
  completeUsage,
  hasTokenCounts,
  type ReplyAdapter,
  replaceDataInText,
  tagMember,
  readEventType,
  addEventName,
} from '../../contract/pass-through.ts';
import { writeUsage, writeMessageUsage } from './finish.ts';

/** Adapts Messages replies that pass through: tags signatures with their origin and adds missing usage. */
export class MessagesReplyAdapter implements ReplyAdapter {
  readonly meter: UsageMeter;
  readonly #signatureTag: string;
  readonly #redactedTag: string;
  #hasStarted = false;

  constructor(request: AnsweredRequest, origin: string) {
    this.meter = new UsageMeter(request);
    this.#signatureTag = tagState({ kind: 'signature', origin, data: '' });
    this.#redactedTag = tagState({ kind: 'redacted', origin, data: '' });
  }

  adaptEvent(event: StreamEvent, reportedUsage?: Usage): string {
    const text = addEventName(event);
    switch (readEventType(event)) {
      case 'message_start':
        // The SDK throws on a second `message_start`. If it differs from the first, the decoder reports a failure.
        if (this.#hasStarted) return '';
        this.#hasStarted = true;
        return this.#completeStart(event, text, reportedUsage);
      case 'content_block_start':
        this.meter.startPart();
        // The model also wrote the name of a call.
        if (text.includes('"tool_use"')) this.meter.addDelta(event);
        // In other events, these names could belong to a tool's input.
        if (text.includes('"thinking"')) return tagMember(text, 'signature', this.#signatureTag);
        return text.includes('"redacted_thinking"') ? tagMember(text, 'data', this.#redactedTag) : text;
      case 'content_block_delta':
        this.meter.addDelta(event);
        return !event.isPlain && text.includes('"signature_delta"')
          ? tagMember(text, 'signature', this.#signatureTag)
          : text;
      case 'message_delta':
        return this.#completeOutput(event, text, reportedUsage);
      default:
        return text;
    }
  }

  adaptReply(text: string, body: MessagesReply, reportedUsage?: Usage): string {
    const hasCounts = hasTokenCounts(reportedUsage);
    if (hasCounts && !text.includes('thinking"')) return text;
    const blocks = Array.isArray(body.content) ? body.content : [];
    const content = blocks.map((block) => this.#tagBlock(block));
    if (hasCounts) return JSON.stringify({ ...body, content });
    this.meter.addWhole(body);
    const usage = completeUsage(body.usage, writeMessageUsage(this.meter.complete(reportedUsage, true)));
    return JSON.stringify({ ...body, content, usage });
  }

  #tagBlock(block: JsonValue): JsonValue {
    if (!isJsonObject(block)) return block;
    const { type, signature, data }: MessagesBlock = block;
    if (type === 'thinking' && typeof signature === 'string' && signature !== '')
      return { ...block, signature: `${this.#signatureTag}${signature}` };
    if (type === 'redacted_thinking' && typeof data === 'string' && data !== '')
      return { ...block, data: `${this.#redactedTag}${data}` };
    return block;
  }

  #completeStart(event: StreamEvent, text: string, reportedUsage: Usage | undefined): string {
    const startEvent: MessagesEvent | undefined = event.parse();
    // Anthropic's SDK adds later counts to the first event's usage, and crashes if it is missing.
    if (startEvent === undefined || reportedUsage?.input !== undefined) return text;
    const message: MessagesReply = asObject(startEvent.message);
    const counts = writeMessageUsage({ ...reportedUsage, input: this.meter.input });
    return replaceDataInText(text, {
      ...startEvent,
      message: { ...message, usage: completeUsage(message.usage, counts) },
    });
  }

  #completeOutput(event: StreamEvent, text: string, reportedUsage: Usage = {}): string {
    const ending: MessagesEvent | undefined = event.parse();
    // Clients of the AI SDK crash if counts are missing.
    const isCounted = /"output_tokens"\s*:\s*\d/.test(text);
    const reported = this.meter.output > 0 ? removeEmptyCounts(reportedUsage) : reportedUsage;
    if (ending === undefined || (isCounted && reported === reportedUsage)) return text;
    if (!isCounted) this.meter.distrustOutput();
    const { input = this.meter.input, output = this.meter.output } = reported;
    const counts = writeUsage({ ...reported, input, output: isCounted ? output : this.meter.output });
    return replaceDataInText(text, { ...ending, usage: completeUsage(ending.usage, counts) });
  }
}
