import type { Model, Route } from '#core/config/catalog/catalog.ts';
import { profileIn } from '#core/config/catalog/profile.ts';
import type { ReplyReader, RouteCalls, UpstreamRequest } from '#core/gateway/model-call/adapter.ts';
import { bounds } from '#core/platform/bounds.ts';
import { GatewayError } from '#core/platform/errors/table.ts';
import type { Conversation, Item } from '../../canonical/conversation.ts';
import { estimateTokens } from '../../canonical/estimate.ts';
import type { ClientRequest } from '../../request/client-request.ts';
import { selectUpstreamFormat } from '../../request/upstream-format.ts';
import { PreparedCalls } from './prepared-call.ts';
import { TranslatingReader } from './reader.ts';
import type { Translation, CallTranslator } from './translator.ts';

const minOutputTokens = 16; // some upstreams refuse a lower limit

const continueInstruction =
  'Your answer above was cut off by a technical error. Continue exactly where it stops, in the middle of a word if necessary. ' +
  'Write only what comes next: repeat nothing, do not start over, and do not mention the interruption.';

/**
 * Returns true if another route may continue the answer to a request. It must be a single streaming answer of free text, for a request that
 * can be decoded and encoded without loss. A model cannot complete another model's JSON, and a client that requested log probabilities,
 * images or the vendor's own tools must get them, although codecs drop them. A search tool that no route can run does not count, because
 * Codex always offers one.
 */
export function isResumable(request: ClientRequest, translator: CallTranslator, { routes }: Model): boolean {
  if (!request.isStream || request.purpose !== 'answer') return false;
  try {
    const { conversation, notes } = translator.decode();
    const { candidates, output, tools, wantsImages, topLogprobs } = conversation;
    const isText = output === undefined && wantsImages !== true && topLogprobs === undefined;
    const mayUseHostedSearch =
      tools.some(({ form }) => form === 'web_search') && routes.some((route) => hasHostedSearch(route, request));
    const isPlain = candidates === 1 && isText && !mayUseHostedSearch;
    return isPlain && !notes.entries.some((note) => /^dropped (tool |generationConfig\.response)/.test(note));
  } catch (error) {
    // A route of the client's format may still accept the request.
    if (error instanceof GatewayError) return false;
    throw error;
  }
}

function hasHostedSearch(route: Route, request: ClientRequest): boolean {
  return profileIn(selectUpstreamFormat(route, request).name, route.profile).quirks.hosted_search;
}

/** Returns undefined if the answer has no text yet, too much text, or other content. */
export function createResumption(
  interrupted: ReplyReader,
  request: ClientRequest,
  translator: CallTranslator,
): RouteCalls | undefined {
  if (!(interrupted instanceof TranslatingReader)) return undefined;
  const sentText = interrupted.plainText;
  if (sentText === undefined || sentText.trim() === '' || sentText.length > bounds.resumedText) return undefined;
  return new Resumption(interrupted, sentText, request, translator);
}

class Resumption implements RouteCalls {
  readonly #interrupted: TranslatingReader;
  readonly #sentText: string;
  readonly #request: ClientRequest;
  readonly #translator: CallTranslator;
  readonly #prepared = new PreparedCalls((route) => this.#prepare(route));

  constructor(interrupted: TranslatingReader, sentText: string, request: ClientRequest, translator: CallTranslator) {
    this.#interrupted = interrupted;
    this.#sentText = sentText;
    this.#request = request;
    this.#translator = translator;
  }

  canServe(route: Route): boolean {
    return !(this.#prepared.find(route) instanceof GatewayError);
  }

  encode(route: Route): UpstreamRequest {
    return this.#prepared.get(route).request;
  }

  read(route: Route): ReplyReader {
    return this.#prepared.get(route).readContinuation(this.#interrupted, this.#sentText);
  }

  #prepare(route: Route): Translation {
    const { conversation } = this.#translator.decode();
    const format = selectUpstreamFormat(route, this.#request);
    const { prefill } = profileIn(format.name, route.profile).quirks;
    return this.#translator.translate(route, format, appendAnswer(conversation, this.#sentText, prefill));
  }
}

function appendAnswer(conversation: Conversation, sentText: string, continuesPrefill: boolean): Conversation {
  const { items, maxOutputTokens } = conversation;
  const answer: Item = { type: 'message', role: 'assistant', parts: [{ type: 'text', text: sentText }] };
  const continuation: Item = { type: 'message', role: 'user', parts: [{ type: 'text', text: continueInstruction }] };
  return {
    ...conversation,
    items: [...items, answer, ...(continuesPrefill ? [] : [continuation])],
    maxOutputTokens: maxOutputTokens && Math.max(minOutputTokens, maxOutputTokens - estimateTokens(sentText.length)),
  };
}
