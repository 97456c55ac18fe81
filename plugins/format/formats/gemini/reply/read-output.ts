import { isFilled, isJsonObject, type JsonObject, type JsonValue } from '#core/platform/json.ts';
import { CollectedText } from '#core/platform/memory/collected-text.ts';
import type { MediaSource } from '../../../canonical/conversation.ts';
import { correctMediaType } from '../../../canonical/media.ts';
import { type Citation, droppedAudio, type Fragment } from '../../../canonical/reply.ts';
import type {
  GeminiBlob,
  GeminiFunctionCall,
  GeminiCandidate,
  GeminiContent,
  GeminiFile,
  GeminiPart,
  GeminiCitation,
  GeminiCitations,
  GeminiGrounding,
  GeminiGroundingChunk,
  GeminiGroundingSource,
  GeminiGroundingSupport,
  GeminiSegment,
} from '../../../wire/gemini.ts';
import { asList, asObject, asText, asFilledText, readMember, scalarToText } from '../../../wire/members.ts';
import { PartialArgs } from './partial-args.ts';

/** Reads the parts of one candidate as they arrive. */
export class PartReader {
  /** True once text, an image or a call has arrived. */
  hasContent = false;
  /** The text so far, for locating quotations. */
  readonly #text = new CollectedText();
  #keepsText = true;
  #callCount = 0;
  #openCall: { readonly key: number; readonly args: PartialArgs } | undefined;

  /** @param isShared true if the positions of citations are not needed, in which case the text need not be kept */
  read(candidate: GeminiCandidate, isShared = false): Fragment[] {
    this.#keepsText = !isShared;
    const parts = readMember<GeminiContent>(candidate.content, 'parts');
    const fragments = asList(parts).flatMap((part) => (isJsonObject(part) ? this.#readPart(part) : []));
    const citations = [...readCitations(candidate, () => this.#text.text), ...readDroppedMetadata(candidate)];
    // Citations go directly after the text, ahead of a signature that follows it.
    return fragments.toSpliced(fragments.findLastIndex(({ type }) => type === 'text') + 1, 0, ...citations);
  }

  finish(): Fragment[] {
    const openCall = this.#openCall;
    this.#openCall = undefined;
    return openCall === undefined ? [] : [{ type: 'call_end', key: openCall.key, input: openCall.args.text }];
  }

  #readPart(part: GeminiPart): Fragment[] {
    const call = part.functionCall;
    // The signature on a call or image belongs to the thoughts before it.
    const signature = readSignature(part.thoughtSignature);
    // An empty call ends the open call. If no call is open, an empty call has no meaning.
    if (isJsonObject(call) && (isFilled(call) || this.#openCall !== undefined))
      return [...signature, ...this.#readCall(call)];
    const image = part.thought === true ? undefined : readImage(part);
    if (image !== undefined) {
      this.hasContent = true;
      return [...signature, { type: 'image', source: image }];
    }
    const followsContent = this.hasContent;
    const content = [...this.#readText(part), ...readDroppedParts(part)];
    if (part.thought === true) return [...content, ...signature];
    // Google recommends sending every signature back but only requires it for calls. Source: Gemini API docs, "Thought signatures".
    if (followsContent) return [...content, ...signature.map((state) => ({ ...state, isTrailing: true }) as const)];
    return [...signature, ...content];
  }

  #readText(part: GeminiPart): Fragment[] {
    const text = asText(part.text);
    if (text === '') return [];
    if (part.thought === true) return [{ type: 'reasoning', text }];
    this.hasContent = true;
    if (this.#keepsText) this.#text.add(text);
    return [{ type: 'text', text }];
  }

  #readCall(call: GeminiFunctionCall): Fragment[] {
    const { id, name, args } = call;
    const isNew = typeof name === 'string' && name !== '';
    const openCallEnd = isNew ? this.finish() : [];
    if (!isNew && this.#openCall === undefined) return [];
    const key = isNew ? this.#callCount++ : (this.#openCall?.key ?? 0);
    const head: Fragment[] = isNew ? [{ type: 'call', key, id: typeof id === 'string' ? id : undefined, name }] : [];
    this.hasContent = true;
    if (isJsonObject(args) && isNew) return [...openCallEnd, ...head, ...toInputFragments(key, args)];
    this.#openCall ??= { key, args: new PartialArgs() };
    this.#openCall.args.add(call.partialArgs);
    const heldFragment: Fragment = { type: 'held', characters: JSON.stringify(call.partialArgs ?? '').length };
    return [...openCallEnd, ...head, heldFragment, ...(call.willContinue === true ? [] : this.finish())];
  }
}

const codeMembers = ['executableCode', 'codeExecutionResult'] as const;
const otherMembers = ['toolCall', 'toolResponse', 'functionResponse', 'audioTranscription'] as const;
/** No other format has these: pages that Google read, and elements that Google's terms oblige clients to show. */
const groundingMembers = ['searchEntryPoint', 'googleMapsWidgetContextToken', 'sourceFlaggingUris'] as const;
const mediaMembers = ['inlineData', 'fileData'] as const;
const droppedMediaNames = new Map([
  ['image', 'images'],
  ['audio', 'audio'],
  ['video', 'video'],
]);

function readImage(part: GeminiPart): MediaSource | undefined {
  const { mimeType, data }: GeminiBlob = asObject(part.inlineData);
  if (typeof mimeType === 'string' && mimeType.startsWith('image/') && typeof data === 'string' && data !== '')
    return { type: 'base64', mediaType: correctMediaType(mimeType), data };
  const { mimeType: type, fileUri: url }: GeminiFile = asObject(part.fileData);
  return typeof type === 'string' && type.startsWith('image/') && typeof url === 'string' && url !== ''
    ? { type: 'url', url }
    : undefined;
}

function readDroppedParts(part: GeminiPart): Fragment[] {
  const droppedFeatures = codeMembers.some((name) => isFilled(part[name])) ? ['executed code'] : [];
  for (const name of mediaMembers) {
    if (!isFilled(part[name])) continue;
    const [kind = ''] = scalarToText(readMember<GeminiBlob>(part[name], 'mimeType')).split('/');
    droppedFeatures.push((part.thought === true ? 'thoughts with ' : '') + (droppedMediaNames.get(kind) ?? 'files'));
  }
  droppedFeatures.push(...otherMembers.filter((name) => isFilled(part[name])));
  return droppedFeatures.map((feature) =>
    feature === 'audio' ? droppedAudio : { type: 'dropped', feature: `${feature} in the answer` },
  );
}

function readDroppedMetadata({ groundingMetadata, urlContextMetadata, logprobsResult }: GeminiCandidate): Fragment[] {
  const droppedFeatures: string[] = groundingMembers.filter(
    (name) => readMember<GeminiGrounding>(groundingMetadata, name) !== undefined,
  );
  if (isJsonObject(urlContextMetadata)) droppedFeatures.push('urlContextMetadata');
  if (isJsonObject(logprobsResult)) droppedFeatures.push('logprobsResult');
  return droppedFeatures.map((feature) => ({ type: 'dropped', feature: `${feature} of the answer` }));
}

function toInputFragments(key: number, args: JsonObject): Fragment[] {
  return [
    { type: 'input', key, text: JSON.stringify(args) },
    { type: 'call_end', key },
  ];
}

function readSignature(value: JsonValue | undefined): Extract<Fragment, { type: 'reasoning_state' }>[] {
  const data = asFilledText(value);
  return data === undefined ? [] : [{ type: 'reasoning_state', kind: 'thought', data }];
}

/**
 * Google's positions are byte offsets in a part, so the quoted words are looked up in the text instead. Source: Gemini API reference,
 * "GroundingMetadata", "CitationMetadata".
 */
function readCitations(candidate: GeminiCandidate, readText: () => string): Fragment[] {
  const { groundingChunks, groundingSupports }: GeminiGrounding = asObject(candidate.groundingMetadata);
  const [chunks, supports] = [asList(groundingChunks), asList(groundingSupports)];
  const quotedSources = listCitations(candidate);
  if (chunks.length + supports.length + quotedSources.length === 0) return [];
  const text = readText();
  const groundingCitations =
    supports.length > 0
      ? supports.flatMap((support) => readSupport(support, chunks, text))
      : chunks.flatMap((chunk) => createCitation(readSource(chunk), undefined, text));
  const quotedCitations = quotedSources.flatMap((source) => createCitation(asObject(source), undefined, text));
  return [...groundingCitations, ...quotedCitations];
}

function listCitations({ citationMetadata }: GeminiCandidate): readonly JsonValue[] {
  const sources = asList(readMember<GeminiCitations>(citationMetadata, 'citationSources'));
  // Vertex AI uses another name.
  return sources.length > 0 ? sources : asList(readMember<GeminiCitations>(citationMetadata, 'citations'));
}

function readSupport(support: JsonValue, chunks: readonly JsonValue[], text: string): Fragment[] {
  const words = asFilledText(readMember<GeminiSegment>(readMember<GeminiGroundingSupport>(support, 'segment'), 'text'));
  return asList(readMember<GeminiGroundingSupport>(support, 'groundingChunkIndices')).flatMap((index) =>
    typeof index === 'number' ? createCitation(readSource(chunks[index]), words, text) : [],
  );
}

function readSource(chunk: JsonValue | undefined): GeminiCitation {
  const { web, retrievedContext, maps, image }: GeminiGroundingChunk = asObject(chunk);
  const { uri, sourceUri, title }: GeminiGroundingSource = asObject(web ?? retrievedContext ?? maps ?? image);
  return { uri: uri ?? sourceUri, title };
}

function createCitation({ uri, title }: GeminiCitation, words: string | undefined, text: string): Fragment[] {
  const url = asFilledText(uri);
  if (url === undefined) return [];
  const start = words === undefined ? -1 : text.lastIndexOf(words);
  const range = start === -1 || words === undefined ? undefined : { start, end: start + words.length };
  const citation: Citation = { url, title: asFilledText(title), quote: words, start: range?.start, end: range?.end };
  return [{ type: 'citation', citation }];
}
