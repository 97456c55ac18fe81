import type { Profile } from '#core/config/catalog/profile.ts';
import type { EncodeTarget } from '../../../canonical/codec.ts';
import type { Reasoning, ToolResult } from '../../../canonical/conversation.ts';
import { type AssistantTurn, type DialogueTurn, joinTexts } from '../../../canonical/dialogue.ts';
import { isMedia } from '../../../canonical/media.ts';
import { toObjectInput } from '../../../canonical/tools.ts';
import { writeAlternatingTurns } from '../../../canonical/write-turns.ts';
import type { GeminiFunctionCall, GeminiContent, GeminiPart } from '../../../wire/gemini.ts';
import type { Editable } from '../../../wire/loose.ts';
import { requiresSignatures, signaturePlaceholder } from './thought-signature.ts';
import { writeInput, writeOutput } from './write-content.ts';

/**
 * Writes turns as contents: the user begins, both sides alternate, and results follow their calls. Source: Gemini API reference,
 * "Content".
 */
export function writeContents(turns: readonly DialogueTurn[], target: EncodeTarget): GeminiContent[] {
  const { profile } = target;
  /** Names of the called functions by call id, because results must repeat them. */
  const namesByCallId = new Map<string, string>();
  const contents = writeAlternatingTurns<GeminiPart>(turns, target, {
    assistantRole: 'model',
    assistant: (turn) => writeAssistant(turn, namesByCallId, target),
    input: (parts) => writeInput(parts, target),
    result: (result, movedMedia) => {
      const inner = movedMedia.length > 0 ? [] : writeInput(result.parts.filter(isMedia), target);
      return writeResult(result, inner, {
        ...writeId(result.id, profile),
        name: namesByCallId.get(result.id) ?? 'unknown',
      });
    },
    canHoldMedia: () => profile.quirks.tool_result_images,
  });
  return contents.map(({ role, content }) => ({ role, parts: content }));
}

function writeAssistant(
  { items }: AssistantTurn,
  namesByCallId: Map<string, string>,
  target: EncodeTarget,
): GeminiPart[] {
  const parts = new TurnParts(requiresSignatures(target.profile));
  for (const item of items) {
    if (item.type === 'message') parts.addOutput(writeOutput(item.parts, target));
    else if (item.type === 'reasoning') parts.addSignature(readOwnSignature(item, target));
    else {
      const name = target.names.toWire(item.name, item.namespace);
      namesByCallId.set(item.id, name);
      parts.addCall({ ...writeId(item.id, target.profile), name, args: toObjectInput(item, target.notes) });
    }
  }
  const turnParts = parts.finish();
  if (parts.hasPlaceholder) target.notes.approximate('missing thought signatures');
  return turnParts;
}

/** Returns the signature if this upstream created it, otherwise an empty text. The upstream does not accept the text of thoughts. */
function readOwnSignature({ state }: Reasoning, { findOwnState, notes }: EncodeTarget): string {
  const signature = findOwnState(state) ?? '';
  if (signature === '') notes.drop('reasoning of earlier turns');
  return signature;
}

/** Returns the id for models that support ids. Older models match calls and results by their order. */
function writeId(id: string, { quirks }: Profile): GeminiFunctionCall {
  return quirks.tool_schema === 'subset' ? {} : { id };
}

function writeResult({ parts, isError }: ToolResult, inner: GeminiPart[], head: GeminiFunctionCall): GeminiPart {
  const text = joinTexts(parts);
  const response = isError ? { error: text === '' ? 'Error without a message.' : text } : { result: text };
  return { functionResponse: inner.length === 0 ? { ...head, response } : { ...head, response, parts: inner } };
}

/**
 * Collects the parts of one assistant turn. The next call or image gets a signature, even if a text precedes it: Chat clients return
 * all reasoning before the text, but Google expects the signature on the call. Without a following call, the text gets the signature.
 */
class TurnParts {
  /** True if a part got the placeholder in place of a signature. */
  hasPlaceholder = false;
  readonly #needsSignature: boolean;
  readonly #parts: Editable<GeminiPart>[] = [];
  #signature = '';
  #hasCalled = false;

  constructor(needsSignature: boolean) {
    this.#needsSignature = needsSignature;
  }

  addSignature(signature: string): void {
    if (signature === '') return;
    this.#placeSignature();
    this.#signature = signature;
  }

  addOutput(parts: readonly GeminiPart[]): void {
    for (const part of parts) {
      // Google rejects images of its own models without a signature.
      if (typeof part.text === 'string') this.#parts.push(part);
      else this.#addSigned(part, this.#needsSignature);
    }
  }

  addCall(functionCall: GeminiFunctionCall): void {
    // Google rejects a history whose first call has no signature.
    this.#addSigned({ functionCall }, this.#needsSignature && !this.#hasCalled);
    this.#hasCalled = true;
  }

  /** @param isRequired true to use the placeholder if there is no signature */
  #addSigned(part: GeminiPart, isRequired: boolean): void {
    const usesPlaceholder = this.#signature === '' && isRequired;
    const thoughtSignature = usesPlaceholder ? signaturePlaceholder : this.#signature;
    this.hasPlaceholder ||= usesPlaceholder;
    this.#signature = '';
    this.#parts.push(thoughtSignature === '' ? part : { ...part, thoughtSignature });
  }

  finish(): GeminiPart[] {
    this.#placeSignature();
    return this.#parts;
  }

  /** Puts a signature without a following call on the text before it, or into a separate part. */
  #placeSignature(): void {
    if (this.#signature === '') return;
    const lastPart = this.#parts.at(-1);
    const isUnsigned =
      lastPart !== undefined && typeof lastPart.text === 'string' && lastPart.thoughtSignature === undefined;
    if (isUnsigned) lastPart.thoughtSignature = this.#signature;
    else this.#parts.push({ text: '', thoughtSignature: this.#signature });
    this.#signature = '';
  }
}
